/** All programs whose options are known. */
import { compilePrograms, type ProgramSpec } from "./option-table.ts";
import { ARCHIVES } from "./programs-archives.ts";
import { BUILD } from "./programs-build.ts";
import { CONTAINERS } from "./programs-containers.ts";
import { LANGUAGES } from "./programs-languages.ts";
import { NETWORK } from "./programs-network.ts";
import { PACKAGES } from "./programs-packages.ts";
import { SYSTEM } from "./programs-system.ts";
import { TEXT } from "./programs-text.ts";
import { VCS } from "./programs-vcs.ts";

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
