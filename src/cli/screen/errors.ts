import type { ErrorCode } from "../../abi/errno.ts";
import { Fault, printedWire, toWireError, type WireError } from "../../abi/errors.ts";
import { WireFault } from "../../wire/client/wire-fault.ts";
import { oneLine } from "./text/json.ts";
import type { Words } from "./text/language.ts";
import type { Paint } from "./text/paint.ts";
import { safeLine, safeLines } from "./text/safe-text.ts";

/** What may have been meant as one of the commands `near`; its line has no code. */
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

/** Where the daemon gave no hint and there is something to do. The first that fits. */
const HINTS: ReadonlyArray<readonly [ErrorCode, RegExp, string]> = [
  ["NOT_FOUND", /^process not found/, "crux ps lists the processes"],
  ["NOT_FOUND", /^agent not found/, "leave out --agent for the default agent"],
  ["NOT_FOUND", /^(?:no such group|group not found)/, "crux groups lists the groups"],
  ["NOT_FOUND", /^not mounted/, "crux mcp list shows what is mounted"],
  ["CONFLICT", /^path is taken: \/mnt\/mcp\//, "crux umount takes it away; or choose another name"],
  ["NOT_FOUND", /^no project /, "crux compose up starts it"],
  ["UNAVAILABLE", /^daemon .*does not answer/, "crux daemon restart --force"],
  ["UNAVAILABLE", /^daemon closed the connection/, "crux ps starts it again and shows what it recovered"],
  ["TIMEOUT", /^daemon did not start/, "crux daemon start tries again"],
  ["BUDGET", /./, "--budget <tokens> sets another limit"],
  ["INVALID", /^unknown flag/, "crux help lists commands and flags"],
];

/** What a stream told as its last line. */
export function streamFailure(payload: unknown): WireFault {
  return new WireFault(payload as WireError);
}

export function wireOf(error: unknown): WireError {
  return error instanceof WireFault ? error.wire : toWireError(error);
}

function hintOf(wire: WireError): string | undefined {
  return wire.hint ?? HINTS.find(([code, what]) => code === wire.code && what.test(wire.message))?.[2];
}

export function hintLine(hint: string, words: Words): string {
  return `${words.hint}${safeLine(hint)}`;
}

/** The lines for stderr, without the final newline. */
export function errorLines(error: unknown, words: Words, paint: Paint): string {
  const wire = wireOf(error);
  const printed = error instanceof UnknownCommand ? error.message : printedWire(wire);
  const line = `${paint.red("✗")} ${safeLines(printed)}`;
  const hint = hintOf(wire);
  return hint === undefined ? line : `${line}\n${hintLine(hint, words)}`;
}

/** The wrapped object of JSON mode. */
export function errorJson(error: unknown): string {
  return failureJson(wireOf(error));
}

/** `more`: beside the error, where there is something to say. */
export function failureJson({ code, message, syscall, device }: WireError, more: object = {}): string {
  return oneLine({ ok: false, error: { code, message, syscall, device }, ...more });
}
