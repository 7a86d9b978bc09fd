/**
 * What an OS process can do while it runs, as data: a function of the effective rights of the agent that starts it. The host
 * makes bubblewrap or seatbelt of it. All paths are absolute and real. It fails closed: what cannot be set up does not start.
 */
export interface SandboxProfile {
  /** Writable, with all below; everything else on the host is read-only. */
  readonly write: readonly string[];
  /** Read-only although below `write`, whether it exists or not: settings, hooks of git, start-up files. */
  readonly protect: readonly string[];
  /** Empty to the program: secrets, denied reads, the state of Crux, sockets of other services. */
  readonly hide: readonly string[];
  /** Visible although below `hide`: its own socket, its own folder. */
  readonly show: readonly string[];
  /** The folder of its process for temporary files: its `/tmp`, where nothing else must lie there. Absent: an empty one each time. */
  readonly tmp?: string;
  /** `host`: as the host is (only where a person opted out of it). `off`: no network but a loopback of its own. */
  readonly network: "host" | "off" | SandboxNetwork;
}

/** Only by a proxy of Crux, which resolves names outside: exact hosts, `*.h` for what is below h. */
export interface SandboxNetwork {
  readonly allow: readonly string[];
  readonly deny: readonly string[];
}

/** How commands are run, as a person is told: what the machine can do, and what the settings ask for. */
export type SandboxStatus = SandboxState & { readonly mode: "on" | "off" | "required" };

/** Why commands run without a sandbox, or not at all, in a few words and with the way out; undefined: they are confined. */
export function sandboxOff(status: {
  readonly available: boolean;
  readonly mode: SandboxStatus["mode"];
  readonly why?: string | undefined;
  readonly fix?: string | undefined;
}): string | undefined {
  if (status.mode === "off") return "sandbox.mode is off";
  return status.available ? undefined : `${status.why ?? "not known"}; ${status.fix ?? ""}`;
}

/** Can commands be confined here? Found once at start. */
export type SandboxState =
  | { readonly available: true; readonly kind: "bubblewrap" | "seatbelt" }
  /** `why` in words for a person; `fix`: what to type. */
  | { readonly available: false; readonly why: string; readonly fix: string };
