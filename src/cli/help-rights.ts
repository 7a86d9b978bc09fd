/** Help on what processes may. */
import { GLOBAL } from "./help-flags.ts";

export const RIGHTS_TOPICS: Readonly<Record<string, string>> = {
  mode: `What a process may do without asking: show it, or set it

Usage:
  crux mode <pid>             the mode it is in, and the highest it may ask for
  crux mode <pid> <mode>      set it, at once

From the narrowest: plan (looks, changes nothing), dont_ask (what would ask is denied), default, accept_edits (edits
inside the folder pass), auto (a model judges what would ask), bypass (all but what is denied). A lower mode binds all
that it has started and that still runs; a higher one is for it alone. Above its ceiling it goes by a grant, which
crux grants shows and takes back. Into bypass there is only the start: crux --dangerously-skip-permissions.
Modes: --quiet prints the mode alone.

${GLOBAL}

Examples:
  crux mode 3
  crux mode 3 plan`,

  grants: `List what you have permitted beside the settings, or take it back

Usage:
  crux grants [<pid>]         those that count for a process; else all that are in memory
  crux grants rm <id>         take one back: from the next call on it does not count
      --kill                  and end commands under way that only it allowed
      --pid <pid>             a process of its session, where that rests

"Always" answers hold for a session, in the journal, and outlive the daemon. What went into a settings file is there.
Modes: --quiet prints ids alone.

${GLOBAL}

Examples:
  crux grants 3
  crux grants rm g_00c0ffee00c0ffee --kill`,
};
