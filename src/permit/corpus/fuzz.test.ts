/**
 * Known-bad commands in whatever dress: nested, wrapped, quoted, encoded, substituted, fed, joined. None is ever allowed under
 * the rules of the corpus. More cases: CRUX_FUZZ_CASES.
 */
import fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { allowed, bash, denied, run, subject } from "../contract.ts";
import { makePermit } from "../policy.ts";
import { loadParser } from "../shell/parser.ts";

beforeAll(async () => {
  await loadParser();
});

const CASES = Number(process.env.CRUX_FUZZ_CASES ?? 10_000);

const make = (rules: Parameters<typeof makePermit>[0]["rules"]) =>
  makePermit({
    rules,
    defaultMode: "default",
    additionalDirectories: [],
    home: "/home/u",
    kernelPaths: ["/state"],
    isTrusted: true,
    realPath: (path) => path,
    exists: (path) => path === "/ws/.git",
  });
const CORPUS = [
  ...["bash(git *)", "bash(echo *)", "bash(npm test)", "edit(src/**)"].map(allowed),
  denied("view(secrets/**)"),
];
const corpus = make(CORPUS);
const blanket = make([
  allowed("bash"),
  allowed("bash(*)"),
  allowed("edit"),
  denied("bash(rm:*)"),
  denied("bash(frob:*)"),
]);

/** Each starts with a program that no rule allows, or is a read that one denies. */
const BAD = [
  "rm x",
  "rm -rf x",
  "frob x",
  "./e x",
  "/tmp/git status",
  "cat secrets/k",
  "sed -i s/a/b/ f",
  "npm install",
  "sudo id",
];
const HARMLESS = [
  "git status",
  "echo a",
  "npm test",
  "ls",
  "true",
  "echo 'a; b'",
  "cat f | wc -l",
  "git log -5",
];

/** One spelling of a word that bash reads as the word itself. */
const respelled = (word: string): fc.Arbitrary<string> =>
  fc.constantFrom(
    word,
    `'${word}'`,
    `"${word}"`,
    `\\${word}`,
    `${word.slice(0, 1)}''${word.slice(1)}`,
    `${word.slice(0, 1)}""${word.slice(1)}`,
    `${word.slice(0, 1)}\\\n${word.slice(1)}`,
    `$'${[...word].map((char) => `\\x${char.charCodeAt(0).toString(16)}`).join("")}'`,
    `$'${[...word].map((char) => `\\${char.charCodeAt(0).toString(8).padStart(3, "0")}`).join("")}'`,
    `{${word},}`,
    `$(echo ${word})`,
    `\`echo ${word}\``,
    `\${x:-${word}}`,
  );

const spelled = fc.constantFrom(...BAD).chain((command) => {
  const [first = "", ...rest] = command.split(" ");
  return fc
    .oneof({ weight: 3, arbitrary: fc.constant(first) }, respelled(first))
    .map((name) => [name, ...rest].join(" "));
});

const assigned = fc.constantFrom("", "", "", "LC_ALL=C ", "X=1 ", "PATH=/tmp ");

type Wrap = (command: string) => string;
const single = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const WRAPS: readonly Wrap[] = [
  (c) => `(${c})`,
  (c) => `{ ${c}; }`,
  (c) => `! ${c}`,
  (c) => `if ${c}; then :; fi`,
  (c) => `if true; then ${c}; else :; fi`,
  (c) => `while ${c}; do break; done`,
  (c) => `for i in a b; do ${c}; done`,
  (c) => `for ((i=0;i<1;i++)); do ${c}; done`,
  (c) => `case a in a) ${c};; esac`,
  (c) => `f() { ${c}; }; f`,
  (c) => `function git { ${c}; }; git`,
  (c) => `echo $(${c})`,
  (c) => `echo "$(${c})"`,
  (c) => `echo "a \${b:-$(${c})}"`,
  (c) => `echo \${x^^$(${c})}`,
  (c) => `echo \${x//$(${c})/a}`,
  (c) => `echo $((a[$(${c})]))`,
  (c) => `x=$(${c})`,
  (c) => `x[$(${c})]=1`,
  (c) => `git log > $(${c})`,
  (c) => `git log < <(${c})`,
  (c) => `echo a > >(${c})`,
  (c) => `[[ -n $(${c}) ]]`,
  (c) => `[ -n "$(${c})" ]`,
  (c) => `(( $(${c}) ))`,
  (c) => `cat <<E\n$(${c})\nE`,
  (c) => `cat <<-E\n\t$(${c})\n\tE`,
  (c) => `bash <<'E'\n${c}\nE`,
  (c) => `cat <<E | bash\n${c}\nE`,
  (c) => `bash <<< ${single(c)}`,
  (c) => `bash -c ${single(c)}`,
  (c) => `sh -c ${single(c)}`,
  (c) => `eval ${single(c)}`,
  (c) => `builtin eval ${single(c)}`,
  (c) => `trap ${single(c)} EXIT`,
  (c) => `env bash -c ${single(c)}`,
  (c) => `timeout 5 bash -c ${single(c)}`,
  (c) => `xargs -n 1 bash -c ${single(c)}`,
  (c) => `find . -exec sh -c ${single(c)} ';'`,
  (c) => `flock f -c ${single(c)}`,
  (c) => `script -c ${single(c)} f`,
  (c) => `echo ${single(c)} | sh`,
  (c) => `coproc { ${c}; }`,
  (c) => `time ${c}`,
  (c) => `${c} &`,
  (c) => `${c} # git status`,
  (c) => `# comment\n${c}`,
  (c) => `git status \\\n; ${c}`,
];
/** Before a plain command. */
const PREFIXES = [
  ...[
    "env",
    "nice -n 5",
    "nohup",
    "setsid",
    "stdbuf -o0",
    "timeout 5",
    "command",
    "exec",
    "busybox",
    "time -p",
    "ionice -c 3",
  ],
  ...["env -i", "strace -f", "taskset 1", "chrt -i 0", "xargs", "env CI=1", "timeout -s KILL 5 env nice"],
];

const bad: fc.Arbitrary<string> = fc
  .tuple(
    spelled,
    assigned,
    fc.array(fc.constantFrom(...PREFIXES), { maxLength: 2 }),
    fc.array(fc.constantFrom(...WRAPS), { maxLength: 3 }),
  )
  .map(([command, variable, prefixes, wraps]) =>
    wraps.reduce((text, wrap) => wrap(text), variable + [...prefixes, command].join(" ")),
  );

const joined = fc
  .tuple(
    fc.array(fc.constantFrom(...HARMLESS), { maxLength: 2 }),
    bad,
    fc.array(fc.constantFrom(...HARMLESS), { maxLength: 2 }),
    fc.constantFrom(" && ", " || ", "; ", " | ", "\n", " & ", " |& ", "\n\n", ";\t"),
  )
  .map(([before, command, after, joiner]) => [...before, command, ...after].join(joiner));

const decide = (text: string, permit = corpus, mode: "default" | "accept_edits" | "bypass" = "default") =>
  run(permit, "bash", [bash(text)], subject({ mode })).behavior;

describe("a known-bad command in any dress", () => {
  test(
    "is never allowed under the rules of the corpus",
    () => {
      fc.assert(
        fc.property(joined, (text) => {
          expect(decide(text)).not.toBe("allow");
        }),
        { numRuns: CASES },
      );
    },
    CASES * 20,
  );

  test(
    "that a rule denies is allowed by no blanket rule and no mode",
    () => {
      const mode = fc.constantFrom("default", "accept_edits", "bypass");
      const denied = joined.filter((text) => /frob x/.test(text) && !/\.\/e|sudo/.test(text));
      fc.assert(
        fc.property(denied, mode, (text, each) => {
          expect(decide(text, blanket, each)).not.toBe("allow");
        }),
        { numRuns: Math.ceil(CASES / 10) },
      );
    },
    CASES * 20,
  );
});

test("the harmless commands are allowed: the property could fail", () => {
  for (const text of HARMLESS) expect(decide(text), text).toBe("allow");
  for (const joiner of [" && ", "; ", "\n", " | "])
    expect(decide(HARMLESS.join(joiner)), joiner).toBe("allow");
});
