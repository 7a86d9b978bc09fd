/** The words of the interactive terminal in the language of the user. Only the language that is used is loaded. */
import type { Language } from "../text/language.ts";
import { en, type Phrases } from "./en.ts";

export async function catalogueOf(language: Language): Promise<Phrases> {
  return language === "zh" ? (await import("./zh.ts")).zh : en;
}
