/** The few words that differ between the two languages of the screens (manual, streams, colour, language). */

export interface Words {
  /** The label of a hint, with two leading blanks. */
  readonly hint: string;
  readonly modelCall: string;
  readonly slowCall: string;
}

const ENGLISH: Words = { hint: "  → hint: ", modelCall: "← LLM call", slowCall: "← slow operation" };
const CHINESE: Words = { hint: "  → 建议: ", modelCall: "← LLM 调用", slowCall: "← 慢操作" };

const VARIABLES = ["CRUX_LANG", "LC_ALL", "LC_MESSAGES", "LANG"] as const;

/** The first variable that is not empty decides; only values beginning with `zh` select Chinese. */
export function wordsOf(env: Readonly<Record<string, string | undefined>>): Words {
  const chosen = VARIABLES.map((name) => env[name] ?? "").find((value) => value !== "") ?? "";
  return /^zh/i.test(chosen) ? CHINESE : ENGLISH;
}
