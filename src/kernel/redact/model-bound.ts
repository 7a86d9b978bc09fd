/**
 * Texts on their way to a model. They are redacted as they come into the process, so that what its model is sent is what the
 * journal has. Of a secret that a person let it read, the process is shown the value; what is kept has the mark all the same.
 */
import type { ContextMessage } from "../../abi/sys.ts";
import type { Redactor } from "../../lib/redact.ts";
import { redactedValue } from "./redacted-journal.ts";

/** Whoever can redact. */
export interface Redacting {
  readonly ports: { readonly redactor?: Redactor };
}

/** Secrets that one process is shown; beyond, the oldest are hidden again. */
const MAX_SHOWN = 1_000;
/** Marks of secrets whose values a process is shown; in memory alone. */
const SHOWN = new WeakMap<object, Set<string>>();

/** Of what others read of a process: they are shown no secret. */
export function wordingOf({ ports }: Redacting): (text: string) => string {
  return (text) => ports.redactor?.redact(text) ?? text;
}

export function redactedText({ ports }: Redacting, self: object, text: string): string {
  return ports.redactor?.redact(text, SHOWN.get(self)) ?? text;
}

export function redactedBytes({ ports }: Redacting, self: object, bytes: Uint8Array): Uint8Array {
  return ports.redactor?.redactBytes(bytes, SHOWN.get(self)) ?? bytes;
}

export function redactedMessage({ ports }: Redacting, self: object, message: ContextMessage): ContextMessage {
  if (ports.redactor === undefined) return message;
  const { media, ...words } = message;
  const clean = redactedValue(ports.redactor, words, SHOWN.get(self));
  if (clean === words) return message;
  return { ...(clean as ContextMessage), ...(media === undefined ? {} : { media }) };
}

/** A person let it read them: it is shown what stands there. */
export function showSecrets({ ports }: Redacting, self: object, bytes: Uint8Array): void {
  if (ports.redactor === undefined) return;
  const scan = ports.redactor.scan(Buffer.from(bytes).toString("utf8"));
  const shown = SHOWN.get(self) ?? new Set();
  for (let secret = scan.next(0); secret !== null; secret = scan.next(secret.end)) shown.add(secret.mark);
  for (const oldest of shown) {
    if (shown.size <= MAX_SHOWN) break;
    shown.delete(oldest);
  }
  if (shown.size > 0) SHOWN.set(self, shown);
}
