import { environmentPage } from "./environment.ts";
import { settingsPage } from "./settings.ts";
import { wirePage } from "./wire.ts";

/** What `npm run docs` writes: the pages of docs/ that are made from the code. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  "environment.md": environmentPage,
  "settings.md": settingsPage,
  "wire.md": wirePage,
};
