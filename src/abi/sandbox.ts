/**
 * The sandbox of an OS process, as data: derived from the effective rights of the agent that starts it. The host
 * translates it to namespaces or seatbelt. All paths are absolute and real. Fails closed: if it cannot be set up,
 * nothing starts.
 */
export interface SandboxProfile {
  /** Writable paths, including all below them; everything else on the host is read-only. */
  readonly write: readonly string[];
  /** Read-only paths below `write`, existing or not: settings, hooks of git, start-up files. */
  readonly protect: readonly string[];
  /** Paths that appear empty to the program: secrets, denied reads, the state of Crux, sockets of other services. */
  readonly hide: readonly string[];
  /** Visible paths below `hide`: its own socket, its own folder. */
  readonly show: readonly string[];
  /**
   * The temporary folder of its process, mounted as `/tmp` unless `/tmp` must hold other paths. Absent: empty each
   * time.
   */
  readonly tmp?: string;
  /** Git directories in `write`: what they have to do at the user's next git command is looked at after the program. */
  readonly gitDirs?: readonly string[];
  /** `host`: the network of the host (only if the user opted out). `off`: only a loopback device of its own. */
  readonly network: "host" | "off" | SandboxNetwork;
}

/** Network only through a proxy of Crux, which resolves names outside: exact hosts; `*.h` for hosts below h. */
export interface SandboxNetwork {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** How commands are run, as shown to the user: what the machine supports, and what the settings require. */
export type SandboxStatus = SandboxState & { readonly mode: "on" | "off" | "required" };

/** Why commands run without a sandbox, or not at all, with the remedy, in a few words; undefined: they are confined. */
export function sandboxOff(status: {
  readonly available: boolean;
  readonly mode: SandboxStatus["mode"];
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
}): string | undefined {
  if (status.mode === "off") return "sandbox.mode is off";
  return status.available ? undefined : `${status.why ?? "not known"}; ${status.fix ?? ""}`;
}

/** Best first. `namespaces`: Crux makes the namespaces itself, without bubblewrap. */
export const SANDBOX_KINDS = ["bubblewrap", "namespaces", "landlock", "seatbelt"] as const;
export type SandboxKind = (typeof SANDBOX_KINDS)[number];

/** Whether this machine can confine commands; determined once at start. */
export type SandboxState =
  | {
      readonly available: true;
      readonly kind: SandboxKind;
      /** Why no better one is used, and what to type. */
      readonly why?: string;
      readonly fix?: string;
    }
  /** `why` in plain words; `fix`: what to type. */
  | { readonly available: false; readonly why: string; readonly fix: string };

const LIMITS = "no limit of memory, time or disk";
const KERNEL = "no protection from faults of the operating system's kernel";

/** What each kind does not promise, in a few words each; docs/security.md says more. */
export const NOT_PROMISED: Readonly<Record<SandboxKind, readonly string[]>> = {
  bubblewrap: [LIMITS, KERNEL],
  namespaces: [LIMITS, KERNEL],
  landlock: [
    "settings and hooks in writable folders can be changed until the command ends, and are then put back",
    "a folder in which something is hidden takes no new files",
    "names, sizes and times of hidden files can be seen",
    "permissions and times of your files can be changed",
    "other processes can be seen",
    "no /tmp (only $TMPDIR), no loopback, no named sockets, no terminals, no allowed hosts",
    LIMITS,
    KERNEL,
  ],
  seatbelt: [
    "never run on a Mac so far",
    "no private /tmp, no allowed hosts",
    "other processes can be seen",
    LIMITS,
    KERNEL,
  ],
};
