/** What a classifier answered. Whatever is not one clear verdict blocks. */
import type { ClassifierVerdict } from "../../kernel/ports/classifier.ts";

const MAX_REASON_CHARS = 500;
const UNCLEAR = "the classifier's answer cannot be read";

/** `<block>yes|no|ask</block>`, once; the last tag may be missing where the answer stopped at it. */
export function parseVerdict(text: string): ClassifierVerdict {
  const said = text.replace(/<thinking>[\s\S]*?<\/thinking>/gi, "");
  const opened = said.match(/<\s*block\b/gi) ?? [];
  const closed = said.match(/<\s*\/\s*block\b/gi) ?? [];
  const found = /<block>\s*(yes|no|ask)\s*(?:<\/block>|$)/i.exec(said);
  if (opened.length !== 1 || closed.length > 1 || found === null) return { kind: "block", reason: UNCLEAR };
  const kind = KINDS[found[1]?.toLowerCase() ?? ""] ?? "block";
  return { kind, reason: reasonIn(said) };
}

const KINDS: Readonly<Record<string, ClassifierVerdict["kind"]>> = { yes: "block", no: "allow", ask: "ask" };

function reasonIn(said: string): string {
  const told = /<reason>([\s\S]*?)(?:<\/reason>|$)/i.exec(said)?.[1] ?? "";
  return told.replace(/\s+/g, " ").trim().slice(0, MAX_REASON_CHARS).toWellFormed();
}
