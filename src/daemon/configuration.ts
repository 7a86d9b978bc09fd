/**
 * What follows from the settings. Rules are read whenever their files change; the rest of the user's own file at the
 * start, at SIGHUP, and when it has changed and a client connects.
 */
import type { Settings } from "../abi/settings/settings.ts";
import type { RealPath } from "../kernel/ports/host.ts";
import type { ModelDesk, ModelResolver } from "../kernel/ports/models.ts";
import type { Permit } from "../kernel/ports/permit.ts";
import type { SettingsDesk, SettingsWriter } from "../kernel/ports/settings.ts";
import type { WorkspaceTrust } from "../kernel/ports/trust.ts";
import { createModelResolver } from "../llm/devices/resolve.ts";
import { type BootContext, type DaemonLease, ownDirs } from "./boot-context.ts";
import { Policies, type Policy } from "./policies.ts";
import { settingsDesk } from "./settings/desk.ts";
import { settingsIn, unite } from "./settings/folder-keys.ts";
import { loadPolicy, policyDirOf, type SettingsPlaces } from "./settings/sources.ts";
import { SettingsFiles } from "./settings/writer.ts";

interface ConfigurationOptions {
  readonly realPath: RealPath;
  /** Absent: no workspace is trusted. */
  readonly trust?: WorkspaceTrust;
  /** Folders of skills outside of projects. Absent: none. */
  readonly skillPaths?: readonly string[];
  /** The directory of the administrator's policy and its owner; default /etc/crux and root. */
  readonly policy?: { readonly dir: string; readonly owner: number };
}

const NO_TRUST: WorkspaceTrust = { isTrusted: () => false };
const DETACHED_SECONDS = 3600;

type Context = Pick<BootContext<DaemonLease>, "settings" | "paths" | "env" | "home" | "log">;

export class Configuration {
  readonly resolver: ModelResolver & ModelDesk;
  readonly writer: SettingsWriter;
  readonly #files: SettingsFiles;
  readonly #realPath: RealPath;
  readonly #places: SettingsPlaces;
  readonly #policies: Policies;
  #own: Settings;
  #policy: Settings;
  #settings: Settings;
  /** By policy, which is another one as soon as a file of the folder has changed. */
  #inFolders = new WeakMap<Policy, Settings>();
  /** By folder, until the event loop turns. */
  readonly #seen = new Map<string, Settings>();

  constructor(context: Context, options: ConfigurationOptions) {
    const { settings, paths, home, log } = context;
    const { realPath, trust = NO_TRUST, policy, skillPaths = [] } = options;
    const warn = (line: string): void => log("warn", line);
    const places: SettingsPlaces = {
      configDir: paths.configDir,
      policyDir: policy?.dir ?? policyDirOf(process.platform),
      policyOwner: policy?.owner ?? 0,
      home,
    };
    this.#places = places;
    this.#own = settings;
    this.#policy = policyOf(places);
    this.#settings = settingsIn(this.#own, {}, this.#policy);
    const kernelPaths = ownDirs(context);
    const memoryPath = context.env.CRUX_MEMORY_PATH_OVERRIDE;
    this.#policies = new Policies({ places, kernelPaths, skillPaths, realPath, trust, memoryPath, warn });
    const isTrusted = (cwd: string): boolean => this.#policies.of(cwd).isTrusted;
    this.#files = new SettingsFiles({ places, realPath, trust, isTrusted, warn });
    this.#realPath = realPath;
    this.writer = this.#files;
    this.resolver = createModelResolver({ settings: (cwd) => this.settingsIn(cwd) });
  }

  /** The user's settings, overridden by those of the policy. */
  get settings(): Settings {
    return this.#settings;
  }

  /**
   * Those that apply in a folder, whose own settings may take away, and more once it is trusted. A turn of an agent asks a dozen
   * times: the files are looked at once in a turn of the event loop.
   */
  settingsIn(cwd: string | undefined): Settings {
    if (cwd === undefined) return this.#settings;
    const seen = this.#seen.get(cwd);
    if (seen !== undefined) return seen;
    const policy = this.#policies.of(cwd);
    const settings = this.#inFolders.get(policy) ?? settingsIn(this.#own, policy.merged.folder, this.#policy);
    this.#inFolders.set(policy, settings);
    if (this.#seen.size === 0) setImmediate(() => this.#seen.clear());
    this.#seen.set(cwd, settings);
    return settings;
  }

  permitFor(cwd: string): Permit {
    return this.#policies.of(cwd).permit;
  }

  /** The permit with its inputs: for the sandbox, and to be shown. */
  policyFor(cwd: string): Policy {
    return this.#policies.of(cwd);
  }

  /** `reload`: called after the user's file was written. */
  desk(reload: () => void): SettingsDesk {
    return settingsDesk({
      places: this.#places,
      realPath: this.#realPath,
      files: this.#files,
      isTrusted: (cwd) => this.#policies.of(cwd).isTrusted,
      reload,
    });
  }

  /** ms; 0: a question waits without a limit. */
  askTimeouts(): { askMs: number; detachedMs: number } {
    const { askTimeoutSeconds = 0, detachedTimeoutSeconds = DETACHED_SECONDS } =
      this.#settings.permissions ?? {};
    return { askMs: askTimeoutSeconds * 1000, detachedMs: detachedTimeoutSeconds * 1000 };
  }

  reload(settings: Settings): void {
    this.#own = settings;
    this.#policy = policyOf(this.#places);
    this.#settings = settingsIn(this.#own, {}, this.#policy);
    this.#inFolders = new WeakMap();
    this.#seen.clear();
    this.#policies.forget();
  }
}

function policyOf(places: SettingsPlaces): Settings {
  const all = loadPolicy(places).map((file) => file.settings);
  return all.reduce<Settings>((whole, each) => unite(whole, each) as Settings, {});
}
