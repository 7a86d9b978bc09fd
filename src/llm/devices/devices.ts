/** Makes all model drivers as devices. Mount each at /dev/llm/<name>. */
import { resolve } from "node:path";
import { CREDENTIAL_VARIABLES, type CredentialDriver } from "../../abi/credentials.ts";
import type { Device } from "../../abi/device.ts";
import type { Effect } from "../../abi/effects.ts";
import type { Pid } from "../../abi/ids.ts";
import type { LaneQueue } from "../../abi/lanes.ts";
import type { Clock } from "../../abi/program.ts";
import type { HostExec } from "../../kernel/ports/host.ts";
import { ANTHROPIC_ENV, AnthropicDriver } from "../anthropic/anthropic.ts";
import { BEDROCK_ENV } from "../bedrock/env.ts";
import { ClaudeDriver } from "../claude/claude.ts";
import type { Driver, DriverCaller } from "../driver.ts";
import { ModelFile } from "../file.ts";
import { GEMINI_ENV } from "../gemini/env.ts";
import { InterpreterDriver } from "../interpreter/interpreter.ts";
import { KnownMessages } from "../known-messages.ts";
import { type LaneOptions, laneOf } from "../lane.ts";
import { OLLAMA_ENV } from "../ollama/env.ts";
import { OPENAI_ENV } from "../openai/profile.ts";
import type { ModelSettings } from "../own-models.ts";
import { DriverPool } from "../pool.ts";
import { queueFile } from "../queue-file.ts";
import { Places, ScriptDriver } from "../script/script.ts";
import { VERTEX_ENV } from "../vertex/env.ts";
import { VLLM_ENV } from "../vllm/env.ts";
import { patienceOf } from "../watchdog.ts";
import { XAI_ENV, XAI_PATIENCE_MS } from "../xai/env.ts";
import { HelpedDriver, helperOf, type KeyHelping } from "./key-helper.ts";

interface ModelDevicesOptions {
  readonly exec: HostExec;
  /** A private folder: each run of the claude program gets its own folder below it, and removes it. */
  readonly tmpDir: string;
  readonly clock: Clock;
  /** Told each key that a program of the user prints. Absent: nobody is. */
  readonly learn?: KeyHelping["learn"];
  readonly lanes?: LlmDeviceOptions["lanes"];
  /** Returns what the current settings say of models, in a folder. */
  readonly settings?: LlmDeviceOptions["settings"];
}

export function modelDevices({
  exec,
  tmpDir,
  clock,
  settings = () => ({}),
  lanes,
  learn = () => {},
}: ModelDevicesOptions): readonly Device[] {
  const helping = { exec, clock, learn };
  const own = { clock, settings, helping, ...(lanes === undefined ? {} : { lanes }) };
  const places = new Places();
  return [
    llmDevice({
      name: "anthropic",
      ...own,
      envKeys: ANTHROPIC_ENV,
      make: ({ env }) => new AnthropicDriver(env),
    }),
    llmDevice({
      name: "openai",
      ...own,
      envKeys: OPENAI_ENV,
      silenceMs: REASONING_MS,
      make: { load: async () => (await import("../responses/openai.ts")).openaiDriver },
    }),
    llmDevice({
      name: "gemini",
      ...own,
      envKeys: GEMINI_ENV,
      silenceMs: REASONING_MS,
      make: { load: async () => (await import("../gemini/gemini.ts")).geminiDriver },
    }),
    llmDevice({
      name: "ollama",
      ...own,
      isLocal: true,
      envKeys: OLLAMA_ENV,
      make: { load: async () => (await import("../ollama/ollama.ts")).ollamaDriver },
    }),
    llmDevice({
      name: "bedrock",
      ...own,
      silenceMs: REASONING_MS,
      envKeys: BEDROCK_ENV,
      make: { load: async () => (await import("../bedrock/bedrock.ts")).bedrockDriver },
    }),
    llmDevice({
      name: "vertex",
      ...own,
      silenceMs: REASONING_MS,
      envKeys: VERTEX_ENV,
      make: { load: async () => (await import("../vertex/vertex.ts")).vertexDriver },
    }),
    llmDevice({
      name: "vllm",
      ...own,
      isLocal: true,
      envKeys: VLLM_ENV,
      make: { load: async () => (await import("../vllm/vllm.ts")).vllmDriver },
    }),
    llmDevice({
      name: "xai",
      ...own,
      silenceMs: XAI_PATIENCE_MS,
      envKeys: XAI_ENV,
      make: { load: async () => (await import("../xai/xai.ts")).xaiDriver },
    }),
    llmDevice({ name: "claude", ...own, make: (caller) => new ClaudeDriver(caller, exec, tmpDir) }),
    llmDevice({ name: "interpreter", ...own, lane: "none", make: (caller) => new InterpreterDriver(caller) }),
    llmDevice({
      name: "script",
      ...own,
      lane: "none",
      make: (caller, path) => new ScriptDriver(caller, path, places, clock),
      openEffects: (path, cwd) => (path === "" ? [] : [{ kind: "read", path: resolve(cwd, path) }]),
    }),
  ];
}

/** Models of OpenAI and Google reason without a word of it; OpenAI's own program waits as long. */
const REASONING_MS = 300_000;

type Make = (caller: DriverCaller, path: string) => Driver;

/** A model driver as a device, to be mounted at /dev/llm/<driver>. `/<model>` below it names the model. */
interface LlmDeviceOptions {
  readonly name: string;
  /**
   * `path`: the path below the device, without the leading slash. `load`: the code of the driver is loaded when the device
   * is first opened, and gets the caller's environment.
   */
  readonly make: Make | { readonly load: () => Promise<(env: DriverCaller["env"]) => Driver> };
  /**
   * The environment variables of an instance: callers with equal values share one. Absent: one driver per open file.
   */
  readonly envKeys?: readonly string[];
  /** The effects of opening a path, if the path is more than the name of a model. */
  readonly openEffects?: (path: string, cwd: string) => readonly Effect[];
  /** True if the server runs on this machine, where it may first have to load a model. */
  readonly isLocal?: boolean;
  /** The lanes of a device, as the process may see them. Absent: there is no queue to look at. */
  readonly lanes?: (viewer: Pid, device: string) => readonly LaneQueue[];
  /** What limits it; absent: the server of this machine, the one account of a program, each model of a vendor. */
  readonly lane?: LaneOptions["per"];
  /** How long the stream of a vendor may be silent, if longer than usual; CRUX_STREAM_IDLE_TIMEOUT_MS overrides it. */
  readonly silenceMs?: number;
  /** What the settings say of models, in the folder of a process; called each time. */
  readonly settings?: (cwd: string | undefined) => ModelSettings;
  /** How a program of the user is asked for a key. Absent: none is. */
  readonly helping?: Omit<KeyHelping, "command">;
  readonly clock: Clock;
}

/** Where the environment has no key, a program of the user may print one. */
function helped(make: Make, { name, settings, helping }: LlmDeviceOptions): Make {
  if (helping === undefined || !Object.hasOwn(CREDENTIAL_VARIABLES, name)) return make;
  const { key, other = key } = CREDENTIAL_VARIABLES[name as CredentialDriver];
  const command = () => helperOf(settings?.(undefined) ?? {}, name);
  return (caller, path) =>
    caller.env[key] || caller.env[other]
      ? make(caller, path)
      : new HelpedDriver(caller.env, (env) => make({ ...caller, env }, path), { ...helping, command });
}

export function llmDevice(options: LlmDeviceOptions): Device {
  const { name, envKeys, openEffects, isLocal = false, silenceMs, clock } = options;
  const device = `/dev/llm/${name}`;
  const per = options.lane ?? (isLocal ? "server" : envKeys === undefined ? "account" : "model");
  let make: Make | undefined;
  const load = async (): Promise<Make> => {
    if (typeof options.make === "function") return options.make;
    const loaded = await options.make.load();
    return ({ env }) => loaded(env);
  };
  const pool = new DriverPool(envKeys);
  const known = new KnownMessages();
  return {
    name,
    traffic: "message",
    open: async (subpath, _flags, caller) => {
      const path = subpath.slice(1);
      if (path === "queue" && options.lanes !== undefined)
        return queueFile(device, options.lanes(caller.pid, device));
      make ??= helped(await load(), options);
      const { driver, release } = await pool.lease(make, caller, path);
      await driver.prepare?.().catch(async (error: unknown) => {
        await release();
        throw error;
      });
      const model = openEffects === undefined ? path : "";
      const patience = patienceOf(caller.env, { isLocal, silenceMs });
      const { env, agent, preview, stalled, uuid, prefixOf: process = uuid } = caller;
      const settings = (): ModelSettings => options.settings?.(caller.cwd) ?? {};
      const account = { device, driver: name, envKeys, env, per };
      return new ModelFile({
        ...{ driver, device, model, env, patience, clock, known, settings, process, onClose: release },
        laneOf: (id) => laneOf(account, settings(), id),
        warn: (message) => caller.log("warn", message),
        ...(agent === undefined ? {} : { agent }),
        ...(preview === undefined ? {} : { preview }),
        ...(stalled === undefined ? {} : { stalled }),
      });
    },
    openEffects: (subpath, _flags, caller) =>
      subpath === "/queue" ? [] : (openEffects?.(subpath.slice(1), caller.cwd) ?? []),
    stat: async () => ({ name, size: 0, isDevice: true, devicePath: device }),
    close: () => pool.close(),
  };
}
