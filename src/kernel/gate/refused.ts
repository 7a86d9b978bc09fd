/** A call that was refused: what its caller reads, what the log says, and what is reported when the run is over. */
import { messageOf, SyscallError } from "../../abi/errors.ts";
import type { Fact, Remedy } from "../../abi/fact.ts";
import { type Refusal, refusalDetails } from "../../abi/refusal.ts";
import { subjectOf } from "../process/subject.ts";
import { redactedValue } from "../redact/redacted-journal.ts";
import { requestOf } from "./decide.ts";
import { describe } from "./describe.ts";
import type { Passage } from "./passage.ts";

type Code = "PERMISSION" | "INVALID" | "CONFLICT" | "BUDGET";

const PREFIX = "Permission denied: ";
const MAX_REASON = 400;

interface Refused {
  /** The message for the model. */
  readonly message: string;
  readonly reason: string;
  /** The narrowest remedy that would have allowed the call. */
  readonly remedy: Remedy | null;
  /** The call needs the user's approval, and nobody could or did answer. */
  readonly isQuestion?: boolean;
}

/**
 * The narrowest remedy that would allow it. One that contains a secret is skipped: what is shown could not be typed.
 */
export function remedyOf({ core, self, scope }: Passage): Remedy | null {
  const { permitFor, redactor } = core.ports;
  const isClean = (text: string): boolean => redactor === undefined || redactor.redact(text) === text;
  try {
    const all = permitFor(self.seed.cwd).remedies?.(subjectOf(core, self), requestOf(scope)) ?? [];
    return all.find((each) => "mode" in each || each.rules.every(isClean)) ?? null;
  } catch (error) {
    core.ports.log("error", `remedies: ${messageOf(error)}`);
    return null;
  }
}

/** PERMISSION: the policy denies it, or nobody is attached to approve it. Recorded for the end of the run. */
export function refused(
  passage: Passage,
  { message, reason, remedy, isQuestion = false }: Refused,
): SyscallError {
  const { core, self, effectful, scope } = passage;
  const { redactor } = core.ports;
  const told: Refusal = {
    tool: scope.tool,
    what: describe(scope.tool, effectful).text.replace(`${scope.tool}: `, ""),
    reason: (reason.startsWith(PREFIX) ? reason.slice(PREFIX.length) : reason).slice(0, MAX_REASON),
    remedy,
  };
  const clean = redactor === undefined ? told : (redactedValue(redactor, told) as Refusal);
  self.refusals.add(clean);
  return refusedWith(passage, message, {
    reason,
    details: refusalDetails(clean, !core.asks.canAsk(self)),
    ...(isQuestion || remedy !== null ? { fact: { kind: "needs_approval", remedy } } : {}),
  });
}

/** The user said no, or (INVALID) the call makes no sense: no flag would help. */
export function withheld(passage: Passage, message: string, code?: Code): SyscallError {
  return refusedWith(passage, message, { code });
}

/** The user is notified too, whatever the model makes of the answer. */
function refusedWith(
  { core, self, effectful, scope }: Passage,
  message: string,
  {
    code = "PERMISSION",
    reason = message,
    ...more
  }: {
    code?: Code | undefined;
    reason?: string;
    details?: object;
    fact?: Fact;
  },
): SyscallError {
  const { syscall, device } = effectful;
  const what = describe(scope.tool, effectful).text;
  const { fact } = more;
  const words = `denied ${what} (${reason})`;
  self.log("warn", fact === undefined ? words : { message: words, fact }, core.ports.clock.mono());
  return new SyscallError({ syscall, pid: self.pid, device, code, message, ...more });
}
