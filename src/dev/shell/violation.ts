/**
 * Describes what a sandbox seems to have refused a command, and the setting that would permit it. A program only
 * prints, in its own words, that something failed: so this is a guess and says so, except for what the sandbox itself
 * reported.
 */
import type { Caller } from "../../abi/device.ts";
import type { SandboxKind, SandboxProfile } from "../../abi/sandbox.ts";

export interface Seen {
  readonly sandbox: SandboxProfile | null;
  /** What confined it, if that is known. */
  readonly kind?: SandboxKind | undefined;
  /** Reported by the host: what was refused or moved away. */
  readonly violations: readonly string[];
  readonly exitCode: number | null;
  /** The output as printed, or the end of it. */
  readonly output: string;
}

const tailChars = 16_384;
const maxTold = 5;

const READ_ONLY = /Read-only file system|EROFS|Device or resource busy|EBUSY/i;
const REFUSED = /Permission denied|EACCES|Operation not permitted|EPERM/i;
const OFFLINE =
  /Could not resolve|Temporary failure in name resolution|Network is unreachable|ENETUNREACH|ENOTFOUND|EAI_AGAIN|Name or service not known|getaddrinfo|CONNECT tunnel failed/i;

/** Reports it to the user who follows the process, and in its history. */
export function tellViolation(caller: Pick<Caller, "log" | "violation">, words: string): void {
  caller.log("warn", `sandbox.violation: ${words}`);
  caller.violation?.(words);
}

/** null: no sign of a violation. Otherwise one line for the model and the user. */
export function violationWords({ sandbox, kind, violations, exitCode, output }: Seen): string | null {
  if (sandbox === null) return null;
  const told = violations.slice(0, maxTold);
  const guesses = exitCode === 0 ? [] : guessesAt(sandbox, output.slice(-tailChars), kind === "landlock");
  const words = [...told, ...guesses];
  return words.length === 0 ? null : `[sandbox] ${words.join("; ")}`;
}

/** `isByRules`: rules answer with "Permission denied" where mounts are read-only. */
function guessesAt({ write, network }: SandboxProfile, text: string, isByRules: boolean): readonly string[] {
  const where =
    write.length === 0 ? "nowhere, since it only reads" : `only in ${write.slice(0, 3).join(", ")}`;
  return [
    ...(READ_ONLY.test(text)
      ? [`commands write ${where}, and not to settings and hooks there; sandbox.allowWrite permits more`]
      : []),
    ...(REFUSED.test(text) && isByRules
      ? [
          `it may be the sandbox that refused this: commands write ${where}, and make nothing beside a hidden file; /tmp is closed and $TMPDIR is not; there are no sockets and no terminals; sandbox.allowWrite permits more`,
        ]
      : []),
    ...(REFUSED.test(text) && !READ_ONLY.test(text) && !isByRules
      ? [
          "it may be the sandbox that refused this: secrets cannot be read, settings and hooks not be made, and no rights be gained",
        ]
      : []),
    ...(network !== "host" && OFFLINE.test(text) ? [offline(isByRules ? "off" : network)] : []),
  ];
}

function offline(network: SandboxProfile["network"]): string {
  const state =
    typeof network === "object" ? `reach only ${network.allow.slice(0, 5).join(", ")}` : "have no network";
  return `commands ${state}; sandbox.network.allow permits hosts`;
}
