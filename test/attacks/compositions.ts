/** Known-bad commands of the table in random dress: joined, nested, wrapped, quoted, encoded. Each of them still does its deed. */
import fc from "fast-check";
import { shellWord } from "../../src/lib/shell-word.ts";
import { ATTACKS, type Attack } from "./table.ts";

/** Those of one line whose text means the same wherever it stands. */
const BAD = ATTACKS.filter(
  ({ tool, text, expected, mode, allow, deny }) =>
    tool === "bash" &&
    (expected === "A" || expected === "D") &&
    /^[\x20-\x7e]+$/.test(text) &&
    !/<<E|'open|@\(|\{(?:state|runtime|workspace)\}/.test(text) &&
    [mode, allow, deny].every((more) => more === undefined),
).map(({ text }) => text.replaceAll("{port}", "80"));
const HARMLESS = [
  "git status",
  "echo a",
  "npm test",
  "ls",
  "true",
  "echo 'a; b'",
  "git log -5",
  "cat f | wc -l",
];

const base64 = (text: string) => Buffer.from(text).toString("base64");
const bytes = (text: string, write: (byte: number) => string) => [...Buffer.from(text)].map(write).join("");
const hex = (byte: number) => byte.toString(16).padStart(2, "0");

const NESTED: readonly ((command: string) => string)[] = [
  (c) => `(${c})`,
  (c) => `{ ${c}; }`,
  (c) => `! { ${c}; }`,
  (c) => `if ${c}; then :; fi`,
  (c) => `until ${c}; do break; done`,
  (c) => `for i in a; do ${c}; done`,
  (c) => `case a in a) ${c};; esac`,
  (c) => `f() { ${c}; }; f`,
  (c) => `git() { ${c}; }; git status`,
  (c) => `echo $(${c})`,
  (c) => `echo "$(${c})"`,
  (c) => `echo "\${b:-$(${c})}"`,
  (c) => `echo $((1 + $(${c})))`,
  (c) => `git log > $(${c})`,
  (c) => `cat < <(${c})`,
  (c) => `echo a > >(${c})`,
  (c) => `[[ -n $(${c}) ]]`,
  (c) => `cat <<E\n$(${c})\nE`,
  (c) => `cat <<-E\n\t$(${c})\n\tE`,
  (c) => `coproc { ${c}; }`,
  (c) => `${c} &`,
  (c) => `# git status\n${c}`,
];
const QUOTED: readonly ((command: string) => string)[] = [
  (c) => `bash -c ${shellWord(c)}`,
  (c) => `eval ${shellWord(c)}`,
  (c) => `builtin eval ${shellWord(c)}`,
  (c) => `trap ${shellWord(c)} EXIT`,
  (c) => `timeout 5 env bash -c ${shellWord(c)}`,
  (c) => `env -S "bash -c" ${shellWord(c)}`,
  (c) => `echo | xargs -I{} bash -c ${shellWord(c)}`,
  (c) => `find x -exec bash -c ${shellWord(c)} ';'`,
  (c) => `git -c alias.z=${shellWord(`!${c}`)} z`,
  (c) => `script -c ${shellWord(c)} /dev/null`,
  (c) => `bash <<'E'\n${c}\nE`,
  (c) => `echo ${shellWord(c)} | sh`,
  (c) => `. <(echo ${shellWord(c)})`,
];
const ENCODED: readonly ((command: string) => string)[] = [
  (c) => `echo ${base64(c)} | base64 -d | bash`,
  (c) => `bash -c "$(echo ${base64(c)} | base64 -d)"`,
  (c) => `eval "$(base64 -d <<< ${base64(c)})"`,
  (c) => `printf ${shellWord(bytes(c, (byte) => `\\x${hex(byte)}`))} | bash`,
  (c) => `eval $'${bytes(c, (byte) => `\\x${hex(byte)}`)}'`,
  (c) => `bash -c $'${bytes(c, (byte) => `\\${byte.toString(8).padStart(3, "0")}`)}'`,
  (c) => `xxd -r -p <<< ${bytes(c, hex)} | sh`,
  (c) => `c=${shellWord(c)}; $c`,
  (c) => `c=${shellWord(c)}; eval "$c"`,
  (c) => `echo ${shellWord([...c].reverse().join(""))} | rev | bash`,
];

const wraps = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NESTED) },
  { weight: 2, arbitrary: fc.constantFrom(...QUOTED) },
  { weight: 2, arbitrary: fc.constantFrom(...ENCODED) },
);
const beside = fc.array(fc.constantFrom(...HARMLESS), { maxLength: 2 });

const composed = fc
  .tuple(fc.constantFrom(...BAD), fc.array(wraps, { minLength: 1, maxLength: 3 }))
  .map(([command, all]) => all.reduce((text, wrap) => wrap(text), command));

const joined = fc
  .tuple(beside, composed, fc.constantFrom(" && ", " || ", "; ", " | ", "\n", " & ", " |& "), beside)
  .map(([before, command, joiner, after]) => [...before, command, ...after].join(joiner));

/** The same for the same seed. */
export function compositions(seed: number, count: number): Attack[] {
  return fc.sample(joined, { seed, numRuns: count }).map((command) => ({
    expected: "A",
    tool: "bash",
    input: { command, timeout: 1_500 },
    text: command,
  }));
}
