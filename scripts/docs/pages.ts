import { environmentPage } from "./environment.ts";
import { kernelIpcPage } from "./kernel-ipc.ts";
import { settingsPage } from "./settings.ts";
import { wirePage } from "./wire.ts";

/** What `npm run docs` writes: the pages of docs/ that are made from the code, all or in part. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  "environment.md": environmentPage,
  "kernel-ipc.md": kernelIpcPage,
  "settings.md": settingsPage,
  "wire.md": wirePage,
};
