import { Fault, type WireError } from "../../abi/errors.ts";
import { WireFault } from "../../wire/client/wire-fault.ts";
import { nextStep, toWireError } from "../../wire/codec/error.ts";
import { oneLine } from "./text/json.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";
import type { Phrases } from "./words/en.ts";

type FaultWords = Phrases["faults"];

/** An unknown command, with the commands `near` as suggestions; its line has no code. */
export class UnknownCommand extends Fault {
  constructor(words: string, near: readonly string[]) {
    const ways = near.length === 0 ? ["crux help lists the commands"] : near.map((name) => `crux ${name}`);
    super({
      code: "INVALID",
      message: `unknown command: ${words}`,
      hint: `${ways.join(", ")}, or crux -- ${words} to use it as an intent`,
    });
  }
}

/** Bad arguments: nothing was started. */
export function invalid(message: string, hint?: string): Fault {
  return new Fault({ code: "INVALID", message, hint });
}

/** The failure in the last line of a stream. */
export function streamFailure(payload: unknown): WireFault {
  return new WireFault(payload as WireError);
}

export function wireOf(error: unknown): WireError {
  return error instanceof WireFault ? error.wire : toWireError(error);
}

/** When a budget is exceeded, a raised limit may help whatever refused the call. */
function hintOf({ hint, fact, code }: WireError, faults: FaultWords): string | undefined {
  // the daemon words the fact for clients that do not know it
  const isWorded = hint === undefined || (fact && nextStep(fact)) === hint;
  return (
    (isWorded && fact ? faults.next(fact) : hint) ??
    (code === "BUDGET" ? "--budget <tokens> sets another limit" : undefined)
  );
}

export function hintLine(hint: string, words: Pick<FaultWords, "hint">): string {
  return `${words.hint}${safeLine(hint)}`;
}

/** The lines for stderr, without the final newline. */
export function errorLines(error: unknown, faults: FaultWords, paint: Paint): string {
  const wire = wireOf(error);
  const printed = error instanceof UnknownCommand ? error.message : faults.said(wire);
  const line = `${paint.red("✗")} ${safeLines(printed)}`;
  const hint = hintOf(wire, faults);
  return hint === undefined ? line : `${line}\n${hintLine(hint, faults)}`;
}

/** The wrapped error object of JSON mode. */
export function errorJson(error: unknown): string {
  return failureJson(wireOf(error));
}

/** `more`: further keys beside the error. */
export function failureJson({ code, message, syscall, device }: WireError, more: object = {}): string {
  return oneLine({ ok: false, error: { code, message, syscall, device }, ...more });
}
