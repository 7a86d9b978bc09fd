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

export const LANGUAGES = ["en", "zh"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The first variable that is not empty decides; only values beginning with `zh` select Chinese. */
function languageOf(env: Readonly<Record<string, string | undefined>>): Language {
  const chosen = VARIABLES.map((name) => env[name] ?? "").find((value) => value !== "") ?? "";
  return /^zh/i.test(chosen) ? "zh" : "en";
}

/** `setting`: of `ui.language`; what names no language leaves it to the environment. */
export function languageFor(setting: unknown, env: Readonly<Record<string, string | undefined>>): Language {
  return LANGUAGES.find((each) => each === setting) ?? languageOf(env);
}

export function wordsIn(language: Language): Words {
  return language === "zh" ? CHINESE : ENGLISH;
}

export function wordsOf(env: Readonly<Record<string, string | undefined>>): Words {
  return wordsIn(languageOf(env));
}
