/** Help on which folders may bring what acts. */
import { GLOBAL } from "./help-flags.ts";

export const TRUST_TOPICS: Readonly<Record<string, string>> = {
  trust: `Let what a folder brings act, once you have seen it

Usage:
  crux trust [dir]            show what would act there, ask, and trust it
  crux trust show [dir]       show it, and what of it you trust; change nothing
  crux trust diff [dir]       the same with what changed since you trusted it
  crux trust list             the folders that you trust
  crux trust remove [dir]     trust it no longer

  -y, --yes                   do not ask; without a terminal nothing is asked either

Until then agents work in the folder, but its settings widen nothing and its agents, skills, MCP servers, hooks and
instructions (AGENTS.md, CLAUDE.md) are not there. What it forbids holds always. Each file counts as you have seen it:
one that changes is off until you trust it again. A repository inside another is trusted by itself; a worktree has the
trust of its main repository. In /, the home folder and temporary folders trust ends with the last process there.
A folder named like one of the words above: ./list. Modes: --quiet prints paths alone.

${GLOBAL}

Examples:
  crux trust
  crux trust diff ~/src/app
  crux --trust "run the release agent" < /dev/null`,
};
