/**
 * Against bash itself: random small commands run in a throw-away sandbox under strace; every program that was executed was in
 * the analysis, or the analysis was uncertain. Generated text never runs outside bwrap.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { posix } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { analyseText } from "./analysis.ts";
import { loadParser } from "./parser.ts";
import { programOf } from "./word.ts";

/** Builtins that touch nothing outside their own shell. */
const BUILTINS = new Set(
  `: true false echo printf cd test [ [[ exit return break continue shift set umask ulimit times jobs fg bg disown kill type command
   builtin exec eval time let declare typeset local export readonly read mapfile readarray getopts unset wait pwd alias unalias shopt
   enable hash complete compgen compopt bind fc history source . trap coproc pushd popd dirs logout suspend caller`.split(
    /\s+/,
  ),
);

beforeAll(async () => {
  await loadParser();
});

const CASES = Number(process.env.CRUX_ORACLE_CASES ?? 400);
const BOX = [
  ...[
    "--unshare-all",
    "--die-with-parent",
    "--ro-bind",
    "/",
    "/",
    "--tmpfs",
    "/tmp",
    "--proc",
    "/proc",
    "--dev",
    "/dev",
  ],
  ...["--chdir", "/tmp", "--clearenv", "--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp"],
];

/** null: here it can. */
function whyNot(): string | null {
  if (!existsSync("/usr/bin/bwrap") && !existsSync("/bin/bwrap")) return "bwrap is missing";
  const probe = spawnSync("bwrap", [...BOX, "strace", "-f", "-e", "trace=execve", "-o", "/tmp/t", "true"], {
    stdio: "ignore",
  });
  return probe.status === 0 ? null : "strace cannot run within bwrap";
}

const name = fc.constantFrom(
  "true",
  "id",
  "uname",
  "env",
  "printf",
  "ls",
  "date",
  "cat",
  "\\id",
  "u'na'me",
  "$'\\x69d'",
  "/usr/bin/id",
);
const operand = fc.constantFrom(
  "a",
  "'b c'",
  "$x",
  '"$x"',
  "{a,b}",
  "~",
  "*",
  "-n",
  "\\;",
  "#c",
  "a#b",
  "$(id)",
  "`uname`",
  "<(true)",
  "${x:-$(date)}",
  "${x^^$(id)}",
  "$((1+1))",
  "a=1",
);
const simple = fc
  .tuple(name, fc.array(operand, { maxLength: 2 }))
  .map(([first, rest]) => [first, ...rest].join(" "));
const wrapped = fc
  .tuple(
    fc.constantFrom("", "", "", "env ", "timeout 5 ", "nice ", "command ", "x=1 ", "! ", "exec "),
    simple,
  )
  .map(([prefix, command]) => prefix + command);
const redirected = fc
  .tuple(
    wrapped,
    fc.constantFrom(
      "",
      "",
      "",
      " > f",
      " 2>&1",
      " < /dev/null",
      " >&2 w",
      " <<E\n$(id)\nE",
      " <<'E'\n$(id)\nE",
      " <<< $(uname)",
    ),
  )
  .map(([command, redirect]) => command + redirect);
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    redirected,
    fc
      .tuple(tie("text"), fc.constantFrom(" && ", " || ", "; ", " | ", "\n", " & "), tie("text"))
      .map((parts) => parts.join("")),
    tie("text").map((inner) => `(${inner}\n)`),
    tie("text").map((inner) => `{ ${inner}\n}`),
    tie("text").map((inner) => `if ${inner}\nthen id\nfi`),
    tie("text").map((inner) => `for x in a; do ${inner}\ndone`),
    tie("text").map((inner) => `case a in a) ${inner}\n;; esac`),
    tie("text").map((inner) => `f() { ${inner}\n}\nf`),
    tie("text").map((inner) => `echo "$(${inner}\n)"`),
    tie("text").map((inner) => `bash -c '${inner.replaceAll("'", "'\\''")}'`),
    tie("text").map((inner) => `eval '${inner.replaceAll("'", "'\\''")}'`),
  ),
}));

/** Base names of what each text executed, in order: all in one sandbox, each under a strace that waits for all it started. */
function executed(texts: readonly string[]): readonly (readonly string[])[] {
  const script = texts
    .map((each) => `'${each.replaceAll("'", "'\\''")}'`)
    .map(
      (each) =>
        `strace -f -s 200 -e trace=execve -o /tmp/t timeout 5 bash --noprofile --norc -c ${each} bash </dev/null >/dev/null 2>&1; echo ==; cat /tmp/t`,
    )
    .join("\n");
  const trace = execFileSync("bwrap", [...BOX, "bash", "--noprofile", "--norc", "-c", script], {
    maxBuffer: 1 << 28,
  });
  const groups = trace.toString().split(/^==\n/m).slice(1);
  return groups.map((group) => [...group.matchAll(EXECUTED)].map(([, path = ""]) => posix.basename(path)));
}

/** An attempt that strace saw interrupted counts as well. */
const EXECUTED = /execve\("([^"]+)",.*(?: = 0|<unfinished \.\.\.>)$/gm;

/** What a text was seen to run that the analysis does not name; the first two are the timeout and bash around it. */
function unforeseen(text: string, ran: readonly string[]): readonly string[] {
  const { parts, unread } = analyseText(text, "/tmp", "/tmp");
  if (unread !== null || parts.some(({ unsure, evaluates }) => unsure !== null || evaluates !== null))
    return [];
  const named = new Set(
    parts.flatMap(({ levels }) => levels.map((argv) => posix.basename(programOf(argv) ?? ""))),
  );
  return ran.slice(2).filter((each) => !named.has(each) && !BUILTINS.has(each));
}

describe.skipIf(whyNot() !== null)("analyseText() beside bash", () => {
  test(
    "names every program that is executed, or is uncertain",
    () => {
      for (let done = 0; done < CASES; done += 100) {
        const texts = fc.sample(text, { numRuns: 100, seed: 7 + done });
        const ran = executed(texts);
        expect(ran).toHaveLength(texts.length);
        const missed = texts.flatMap((each, i) => {
          const odd = unforeseen(each, ran[i] ?? []);
          return odd.length === 0 ? [] : [{ text: each, odd }];
        });
        expect(missed).toEqual([]);
      }
    },
    CASES * 500,
  );

  test("sees what it looks for, and is certain of a good part", () => {
    const texts = fc.sample(text, { numRuns: 200, seed: 1 });
    const certain = texts.filter((each) => {
      const { parts, unread } = analyseText(each, "/tmp", "/tmp");
      return unread === null && parts.every(({ unsure, evaluates }) => unsure === null && evaluates === null);
    });
    expect(certain.length).toBeGreaterThan(40);
    expect(executed(["id; env uname"])[0]).toEqual(["timeout", "bash", "id", "env", "uname"]);
    expect(unforeseen("id", ["timeout", "bash", "id", "uname"])).toEqual(["uname"]);
  });
});
