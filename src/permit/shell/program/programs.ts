/** All programs with known options. */

import { ARCHIVES } from "./archives.ts";
import { BUILD } from "./build.ts";
import { CONTAINERS } from "./containers.ts";
import { LANGUAGES } from "./languages.ts";
import { NETWORK } from "./network.ts";
import { compilePrograms, type ProgramSpec } from "./option-table.ts";
import { PACKAGES } from "./packages.ts";
import { SYSTEM } from "./system.ts";
import { TEXT } from "./text.ts";
import { VCS } from "./vcs.ts";

export const PROGRAMS: readonly ProgramSpec[] = [
  ...VCS,
  ...PACKAGES,
  ...CONTAINERS,
  ...BUILD,
  ...ARCHIVES,
  ...TEXT,
  ...NETWORK,
  ...LANGUAGES,
  ...SYSTEM,
];

export const findProgram = compilePrograms(PROGRAMS);
