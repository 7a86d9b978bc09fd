import { DEFINITIONS } from "./definitions.ts";
import { EDITORS } from "./editors.ts";
import { HISTORY } from "./history.ts";
import { ITSELF } from "./itself.ts";
import { JOURNAL } from "./journal.ts";
import { PROCESSES } from "./processes.ts";
import { PROJECTS } from "./projects.ts";
import { RIGHTS } from "./rights.ts";
import { ROOT } from "./root.ts";
import type { CommandGroup, CommandRow } from "./row.ts";
import { SERVERS } from "./servers.ts";
import { SESSIONS } from "./sessions.ts";

/** The groups in the order of `crux help`. */
export const GROUPS: readonly CommandGroup[] = [
  { title: "Sessions", rows: SESSIONS },
  { title: "Processes", rows: PROCESSES },
  { title: "Going back", rows: HISTORY },
  { title: "What they may do and spend", rows: RIGHTS },
  { title: "Agents and skills", rows: DEFINITIONS },
  { title: "Projects", rows: PROJECTS },
  { title: "Servers of tools (MCP)", rows: SERVERS },
  { title: "Editors", rows: EDITORS },
  { title: "The journal", rows: JOURNAL },
  { title: "Crux itself", rows: ITSELF },
];

export const ROWS: readonly CommandRow[] = GROUPS.flatMap(({ rows }) => rows);

/** The empty name stands for Crux itself. */
export function findRow(name: string): CommandRow | undefined {
  return name === "" ? ROOT : ROWS.find((row) => row.name === name);
}
