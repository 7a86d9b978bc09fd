/** Programs that run a command among their arguments, each with its own flag grammar as data. */
import { wordList } from "./tables.ts";
import { isHarmlessVariable } from "./variables.ts";
import { mayBeFlag, type Word } from "./word.ts";

export interface Wrapper {
  /** Flags without a value, spelled exactly; short ones may be bundled. */
  readonly flags: readonly string[];
  /** Flags with a value, in the next word or attached. */
  readonly valued: readonly string[];
  /** Flags whose value is bash text that it runs. */
  readonly text?: readonly string[];
  /** The number of operands before the inner command. */
  readonly operands?: number;
  /** The wrapper appends arguments of its own. */
  readonly isOpen?: boolean;
  /** Assignments may precede the inner command. */
  readonly isEnv?: boolean;
  /** The wrapper joins its words by blanks and runs them as text. */
  readonly joinsText?: boolean;
  /** The wrapper has another effect than running the inner command: writing a file, say. */
  readonly acts?: boolean;
}

const row = (flags = "", valued = "", more: Partial<Wrapper> = {}): Wrapper => ({
  flags: wordList(flags),
  valued: wordList(valued),
  ...more,
});

export const WRAPPERS: ReadonlyMap<string, Wrapper> = new Map<string, Wrapper>([
  [
    "env",
    row("-i --ignore-environment -0 --null -v --debug", "-u --unset", {
      isEnv: true,
      text: ["-S", "--split-string"],
    }),
  ],
  ["command", row("-p")],
  ["builtin", row()],
  ["exec", row("-c -l", "-a")],
  ["nice", row("", "-n --adjustment")],
  ["ionice", row("-t --ignore", "-c --class -n --classdata")],
  ["nohup", row()],
  ["setsid", row("-c -f -w --ctty --fork --wait")],
  ["stdbuf", row("", "-i -o -e --input --output --error")],
  ["time", row("-p -v --portability --verbose", "-f --format")],
  [
    "timeout",
    row("-v --verbose --foreground --preserve-status", "-k -s --kill-after --signal", { operands: 1 }),
  ],
  [
    "chrt",
    row(
      "-a -b -f -i -m -o -r -R -v --all-tasks --batch --fifo --idle --other --rr --reset-on-fork --verbose",
      "-T -P -D",
      {
        operands: 1,
      },
    ),
  ],
  ["taskset", row("-c --cpu-list -a --all-tasks", "", { operands: 1 })],
  [
    "flock",
    row(
      "-s -x -e -n -o -F -u --shared --exclusive --nonblock --close --no-fork --verbose",
      "-w --timeout -E --conflict-exit-code",
      {
        operands: 1,
        text: ["-c", "--command"],
        acts: true,
      },
    ),
  ],
  [
    "watch",
    row(
      "-b -c -C -d -e -g -p -q -t -w -x --beep --color --differences --errexit --chgexit --precise --no-title --exec",
      "-n --interval",
      {
        joinsText: true,
        acts: true,
      },
    ),
  ],
  [
    "script",
    row("-a -e -f -q --append --return --flush --quiet", "-I -O -B -T -m -o", {
      text: ["-c", "--command"],
      acts: true,
    }),
  ],
  ["strace", row("-f -ff -c -C -q -qq -r -t -tt -T -v -x -y -yy -k", "-e -o -s -p -O -S -P", { acts: true })],
  ["ltrace", row("-f -c -C -S -i -r -t -tt -T", "-e -o -s -p -l -n", { acts: true })],
  ["busybox", row()],
  ["toybox", row()],
  [
    "xargs",
    row(
      "-0 --null -r --no-run-if-empty -t --verbose -x --exit -o --open-tty",
      "-n --max-args -P --max-procs -L --max-lines -d --delimiter -I -s -a --arg-file -E",
      {
        isOpen: true,
      },
    ),
  ],
]);

interface Inner {
  readonly inner: readonly Word[];
  readonly text?: string;
  readonly assigned: string | null;
}

/** The inner command, or the reason why it is unknown. */
export function innerOf(argv: readonly Word[], wrapper: Wrapper): Inner | string {
  const name = argv[0]?.shown ?? "";
  let at = 1;
  for (; at < argv.length; at++) {
    const word = argv[at] as Word;
    if (word.text === null && mayBeFlag(word)) return `${name} with an argument that is not known`;
    const arg = word.text ?? word.prefix;
    if (arg === "--") {
      at++;
      break;
    }
    if (!arg.startsWith("-") || arg === "-") break;
    const given = textFlag(wrapper, arg);
    if (given !== undefined) {
      const text = given === "" ? argv[at + 1]?.text : given;
      const rest = argv.slice(at + (given === "" ? 2 : 1));
      return text == null ? `${name} with a text that is not known` : { inner: rest, text, assigned: null };
    }
    if (isPlainFlag(wrapper, arg)) continue;
    if (wrapper.valued.includes(arg)) {
      if (argv[++at]?.isMany === true) return `${name} with an argument that is not known`;
    } else if (!wrapper.valued.some((flag) => isAttached(flag, arg))) return `${name} ${arg}`;
  }
  let assigned: string | null = null;
  while (wrapper.isEnv === true && /^[A-Za-z_][^=]*=/.test(argv[at]?.text ?? argv[at]?.prefix ?? "")) {
    const variable = (argv[at]?.prefix ?? "").split("=")[0] ?? "";
    if (!/^\w+$/.test(variable)) return `${name} with an odd variable`;
    assigned ??= isHarmlessVariable(variable) ? null : `it sets ${variable}`;
    at++;
  }
  for (let i = 0; i < (wrapper.operands ?? 0); i++)
    if (argv[at++]?.isMany === true) return `${name} with an argument that is not known`;
  if (textFlag(wrapper, argv[at]?.text ?? "") !== undefined)
    return argv[at + 1]?.text == null
      ? `${name} with a text that is not known`
      : { inner: [], text: argv[at + 1]?.text ?? "", assigned };
  return { inner: argv.slice(at), assigned };
}

function isPlainFlag({ flags }: Wrapper, arg: string): boolean {
  if (flags.includes(arg)) return true;
  return /^-[^-]{2,}$/.test(arg) && [...arg.slice(1)].every((letter) => flags.includes(`-${letter}`));
}

/** The text attached to the flag, "" if it is the next word; undefined: not a flag with text. */
function textFlag({ text = [] }: Wrapper, arg: string): string | undefined {
  for (const flag of text) {
    if (arg === flag) return "";
    if (isAttached(flag, arg))
      return flag.startsWith("--") ? arg.slice(flag.length + 1) : arg.slice(flag.length);
  }
  return undefined;
}

/** Whether the value is attached to the flag: `-n5`, `--signal=TERM`. */
function isAttached(flag: string, arg: string): boolean {
  return flag.startsWith("--")
    ? arg.startsWith(`${flag}=`)
    : arg.length > 2 && !arg.startsWith("--") && arg.startsWith(flag);
}
