/** A journal that redacts secrets in every text of every record before it is written. Reads are unchanged. */

import type { Redactor } from "../../lib/redact/redact.ts";
import type { Journal, JournalDraft } from "../ports/journal.ts";

export function redactedJournal(journal: Journal, redactor: Redactor): Journal {
  const clean = (drafts: readonly JournalDraft[]): readonly JournalDraft[] =>
    drafts.map((draft) => {
      const body = redactedValue(redactor, draft.body);
      return body === draft.body ? draft : { ...draft, body };
    });
  const own: Pick<Journal, "append" | "note"> = {
    append: (drafts, options) => journal.append(clean(drafts), options),
    note: (drafts) => journal.note(clean(drafts)),
  };
  return new Proxy(journal, {
    get(target, key) {
      if (key === "append" || key === "note") return own[key];
      const value: unknown = Reflect.get(target, key);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Texts with fewer characters contain no secret. */
const LEAST_CHARS = 8;

/** Redacts plain data; returns the same value if it contains no secret. */
export function redactedValue(redactor: Redactor, value: unknown, except?: ReadonlySet<string>): unknown {
  if (typeof value === "string") return value.length < LEAST_CHARS ? value : redactor.redact(value, except);
  if (Array.isArray(value)) {
    let isSame = true;
    const clean = value.map((each: unknown) => {
      const now = redactedValue(redactor, each, except);
      isSame &&= now === each;
      return now;
    });
    return isSame ? value : clean;
  }
  if (typeof value !== "object" || value === null) return value;
  return redactedObject(redactor, value as Readonly<Record<string, unknown>>, except);
}

function redactedObject(
  redactor: Redactor,
  value: Readonly<Record<string, unknown>>,
  except: ReadonlySet<string> | undefined,
): Readonly<Record<string, unknown>> {
  let clean: Record<string, unknown> | null = null;
  for (const key of Object.keys(value)) {
    const now = redactedValue(redactor, value[key], except);
    if (now === value[key]) continue;
    clean ??= { ...value };
    clean[key] = now;
  }
  return clean ?? value;
}
