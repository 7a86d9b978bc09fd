import { wirePage } from "./wire.ts";

/** What `npm run docs` writes: the pages of docs/ that are made from the code. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  "wire.md": wirePage,
};
