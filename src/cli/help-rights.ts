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

  label: `Show where what a process has read came from, or say that it may be trusted

Usage:
  crux label <pid>                   its labels
  crux label clear <pid> <source>    take away those of a source (web, mcp, file, peer, exec), of one place by its
                                     name as it is listed, or all

A process that has read a page, a file from elsewhere or a secret is asked about what would carry data out, whatever
its mode and its rules say; the question names the page. Its children, its messages and the files that it writes have
its labels too. They go with a rewind to before the read, with a fresh process, or by your word here, for this process
alone.
Modes: --quiet prints kinds and sources alone.

${GLOBAL}

Examples:
  crux label 3
  crux label clear 3 web`,

  "auto-mode": `Show what the model goes by that judges calls in mode auto

Usage:
  crux auto-mode defaults     what is built in: 9 it allows, 10 it blocks unless you asked, 4 on the surroundings
  crux auto-mode config       what is in force, with autoMode of your settings

In settings.json, autoMode has the lists allow, soft_deny and environment. A list that is not empty takes the place of
the built-in one; "$defaults" in it stands for that. stage is both, fast or thinking.
Modes: --json; --quiet prints the entries alone.

${GLOBAL}

Examples:
  crux auto-mode defaults
  crux auto-mode config --json`,

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
