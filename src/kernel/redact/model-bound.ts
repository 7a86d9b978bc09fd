/**
 * Texts on their way to a model. They are redacted when they come into the process, so that the model gets the same
 * text as the journal. If the user let the process read a secret, the process gets its value, but the journal has the
 * mark.
 */
import type { ContextMessage } from "../../abi/sys.ts";
import type { Redactor } from "../../lib/redact/redact.ts";
import { redactedValue } from "./redacted-journal.ts";

/** A holder of the optional redactor. */
export interface Redacting {
  readonly ports: { readonly redactor?: Redactor };
}

/** The most secrets that are shown to one process; beyond that, the oldest are hidden again. */
const MAX_SHOWN = 1_000;
/** The marks of the secrets whose values are shown to a process; in memory only. */
const SHOWN = new WeakMap<object, Set<string>>();

/** Redacts text of a process that others read: all secrets are hidden. */
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

/** Called when the user let the process read `bytes`: the secrets in them are shown to it from now on. */
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
