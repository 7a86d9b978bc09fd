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

/** Whose model it is. */
export interface Reader {
  /** Marks of secrets whose values it is shown; null: of none. */
  shownSecrets: Set<string> | null;
}

/** Secrets that one process is shown; beyond, the oldest are hidden again. */
const MAX_SHOWN = 1_000;

export function redactedText({ ports }: Redacting, self: Reader, text: string): string {
  return ports.redactor?.redact(text, self.shownSecrets ?? undefined) ?? text;
}

export function redactedBytes({ ports }: Redacting, self: Reader, bytes: Uint8Array): Uint8Array {
  return ports.redactor?.redactBytes(bytes, self.shownSecrets ?? undefined) ?? bytes;
}

export function redactedMessage({ ports }: Redacting, self: Reader, message: ContextMessage): ContextMessage {
  if (ports.redactor === undefined) return message;
  const { media, ...words } = message;
  const clean = redactedValue(ports.redactor, words, self.shownSecrets ?? undefined);
  if (clean === words) return message;
  return { ...(clean as ContextMessage), ...(media === undefined ? {} : { media }) };
}

/** A person let it read them: it is shown what stands there. */
export function showSecrets({ ports }: Redacting, self: Reader, bytes: Uint8Array): void {
  if (ports.redactor === undefined) return;
  const scan = ports.redactor.scan(Buffer.from(bytes).toString("utf8"));
  for (let secret = scan.next(0); secret !== null; secret = scan.next(secret.end)) {
    self.shownSecrets ??= new Set();
    self.shownSecrets.add(secret.mark);
  }
  for (const oldest of self.shownSecrets ?? []) {
    if ((self.shownSecrets?.size ?? 0) <= MAX_SHOWN) break;
    self.shownSecrets?.delete(oldest);
  }
}
