/** What bash does with a text is the same inside the sandbox as outside: output, order and status. */
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SandboxProfile } from "../../../abi/sandbox.ts";
import type { ExecSpec } from "../../../kernel/ports/host.ts";
import { until } from "../../testing.ts";
import { HostProcesses } from "../exec.ts";
import { groupIsolation } from "../isolation.ts";
import { confinersHere, openInPrograms } from "../testing.ts";
import { Sandboxes } from "./sandbox.ts";

const own = realpathSync(mkdtempSync("/var/tmp/crux-as-bash-"));
const sandboxes = new Sandboxes({ dir: join(own, "sb"), ledgerDir: join(own, "ledger") });
const confiners = confinersHere().map(({ kind, by }) => {
  const pipesDir = join(own, `pipes-${kind}`);
  return { kind, exec: new HostProcesses({ kernelId: "k-as-bash", epoch: 1, pipesDir, sandboxes, ...by }) };
});
/** In no namespace: bash as the host starts it. */
const bare = () => groupIsolation([]);
const outside = new HostProcesses({
  kernelId: "k-bash",
  epoch: 1,
  pipesDir: join(own, "more"),
  isolation: bare,
});
afterAll(async () => {
  await outside.close();
  for (const { exec } of confiners) await exec.close();
  rmSync(own, { recursive: true, force: true });
});

let work = "";
let over = new AbortController();
beforeEach(() => {
  work = mkdtempSync(join(own, "work-"));
  over = new AbortController();
});
afterEach(() => over.abort());

/** One text each, with what it is about; `\n` stands for itself. */
const TEXTS: readonly (readonly [about: string, text: string])[] = [
  ["nothing to do", ":"],
  ["plain words", "echo hi"],
  ["an exit code", "exit 7"],
  ["the largest exit code", "exit 255"],
  ["an exit code that wraps", "exit 256"],
  ["the code of the last command", "true; false"],
  ["a name that is no command", "no-such-command-here"],
  ["a file that cannot be executed", "touch f; ./f"],
  ["a folder as a command", "mkdir d; ./d"],
  ["a syntax error", "if true; echo x"],
  ["an open quotation", "echo 'x"],
  ["an unset variable under -u", 'set -u; echo "$missing"; echo not here'],
  ["an error under -e", "set -e; false; echo not here"],
  ["a failing pipeline", "set -o pipefail; false | true; echo $?"],
  ["the states of a pipeline", "false | true | (exit 3); echo ${PIPESTATUS[@]}"],
  ["words over several lines", "echo a\necho b\n\n\necho c"],
  ["a newline at the end", "echo a\n"],
  ["a newline at the beginning", "\n\necho a"],
  ["a line that goes on", "echo a \\\n b"],
  ["quoted newlines", "printf '%s|' 'a\nb\n' \"c\n\""],
  ["tabs and blanks", "printf '[%s]' '\ta  b ' ' '"],
  ["backslashes", "printf '%s\\n' 'a\\b\\\\c' \"\\$x\" a\\ b"],
  ["letters beyond ASCII", "printf '%s' 'äÁé\u0081\u0088–漢字🙂' | od -An -tx1"],
  ["control characters", "printf '%s' '\u0001\u0002\u007f' | od -An -tx1"],
  ["all that a shell finds special", "printf '%s\\n' '`$(){}[]*?~!#&;|<>' \"'\""],
  ["an end of line of another kind", "printf '%s' 'a\r\nb' | od -An -tc"],
  ["a here-document", "cat <<E\na $((1 + 1))\n  b\nE"],
  ["a quoted here-document", "cat <<'E'\na $x `y`\nE"],
  ["a here-document with tabs", "cat <<-E\n\ta\n\tE\necho b"],
  ["a here-string", "cat <<< 'a b'"],
  ["an empty standard input", "cat; echo $?; read -r x; echo $?"],
  ["what the standard input is", "readlink /proc/self/fd/0"],
  [
    "open descriptors",
    `cd /proc/self/fd; echo [0-2]; for fd in *; do [[ " ${openInPrograms()}" = *" $fd "* ]] || echo $fd; done`,
  ],
  ["both streams in order", "for i in 1 2 3; do echo o$i; echo e$i >&2; done"],
  ["a descriptor of its own", "exec 5>f; echo x >&5; exec 5>&-; cat f"],
  ["a stream opened again", "echo a > /dev/stderr; echo b > /dev/stdout; echo c > /proc/self/fd/1"],
  ["process substitution", "diff <(printf 'a\\nb\\n') <(printf 'a\\nc\\n')"],
  ["a co-process", 'coproc cat; echo x >&"${COPROC[1]}"; read -r y <&"${COPROC[0]}"; echo "$y"'],
  ["its own pid", '[ "$$" = "$BASHPID" ] && (echo "$(($$ == BASHPID))")'],
  ["the pid of its parent", '[ "$PPID" -gt 0 ] && [ "$PPID" != "$$" ] && echo other'],
  [
    "its group and session",
    "read -r _ _ _ _ group session _ < /proc/$$/stat; echo $((group > 0 && session > 0))",
  ],
  ["no terminal", "tty; [ -t 0 ] || [ -t 1 ] || echo none; : < /dev/tty"],
  ["a terminal made for it", "script -qec 'tty > /dev/null && stty size && echo on' /dev/null | tr -d '\\r'"],
  ["its name and words", 'echo "$0" $# "$@" "$-"'],
  ["its level, from where it is", 'bash -c "echo \\$((SHLVL - $SHLVL))"'],
  ["its folder", "pwd; echo $PWD; cd /; pwd; cd -"],
  ["a background job that is waited for", "(exit 4) & wait $!; echo $?"],
  ["jobs", "sleep 1 & jobs -r | wc -l; kill %1; wait %1; echo $?"],
  ["job control", "set -m; sleep 0.5 & fg %1 > /dev/null; echo $?"],
  ["one that prints when the text is over", "(sleep 0.03; echo late) & echo first"],
  ["a signal to itself", "kill -TERM $$; echo not here"],
  ["a kill of itself", "echo before; kill -KILL $$; echo not here"],
  ["an abort", "ulimit -c 0; kill -ABRT $$"],
  ["a child that a signal ended", "sh -c 'kill -INT $$'; echo $?; sh -c 'kill -SEGV $$'; echo $?"],
  ["a signal to its group", "trap 'echo heard' TERM; kill -TERM 0; echo on"],
  ["traps at the end", "trap 'echo bye' EXIT; trap 'echo usr' USR1; kill -USR1 $$; exit 3"],
  ["what signals are ignored", "grep -E '^Sig(Ign|Blk):' /proc/self/status"],
  ["a broken pipe", "yes | head -1; echo ${PIPESTATUS[0]}"],
  ["a time limit", "timeout -s KILL 0.05 sleep 5; echo $?; timeout 0.05 sleep 5; echo $?"],
  ["limits", "ulimit -n; ulimit -s; ulimit -c; umask"],
  ["nice", "nice; nice -n 5 nice"],
  ["what it exports", "env | grep -vE '^(_|PWD|SHLVL|CRUX_[A-Z_]*|TMPDIR)=' | sort"],
  ["a new program in its place", "exec sh -c 'echo other; exit 9'"],
  [
    "more than a pipe holds",
    "head -c 300000 /dev/zero | tr '\\0' x | wc -c; head -c 200000 /dev/zero | tr '\\0' y",
  ],
  ["a long text", `: ${"x".repeat(20_000)}; echo ${"y".repeat(5_000)}`],
];

/** What rules cannot permit without opening the terminals of the user as well. */
const NO_TERMINAL = "a terminal made for it";

interface Seen {
  readonly out: string;
  readonly code: number | null;
}

const SIGNALS: Readonly<Record<string, number>> = { SIGTERM: 15, SIGKILL: 9, SIGABRT: 6 };
/** bash names the pid of what a signal ended. */
const PIDS = /(?<=: line \d+: )\s*\d+(?= [A-Z])/g;

async function run(text: string, by: HostProcesses, sandbox: SandboxProfile | null): Promise<Seen> {
  let out = "";
  const spec: ExecSpec = {
    argv: ["bash", "--noprofile", "--norc", "-c", text, "bash"],
    cwd: work,
    env: { PATH: "/usr/bin:/bin", LANG: "C", TWO: "a\nb" },
    owner: "test",
    isMerged: true,
    sandbox,
    process: { id: work, until: over.signal },
    onOutput: (_, chunk) => {
      out += chunk.toString("latin1");
    },
  };
  const { code, signal, error } = await by.run(spec, new AbortController().signal).exited;
  if (error !== undefined) throw error;
  return { out: out.replace(PIDS, "PID"), code: code ?? 128 + (SIGNALS[signal ?? ""] ?? 0) };
}

describe.each(confiners)("bash in the sandbox, by $kind", ({ kind, exec }) => {
  const texts = TEXTS.filter(([about]) => kind !== "landlock" || about !== NO_TERMINAL);
  it.each(texts)("does as bash does outside: %s", async (_, text) => {
    const expected = await run(text, outside, null);
    for (const name of ["f", "d"]) rmSync(join(work, name), { recursive: true, force: true });
    const profile = { write: [work], protect: [], hide: ["/run"], show: [], network: "off" } as const;
    expect(await run(text, exec, profile)).toEqual(expected);
    // again, in one that was made before the text was known
    await until(() => exec.spares === 1, "one is made ahead");
    for (const name of ["f", "d"]) rmSync(join(work, name), { recursive: true, force: true });
    const again = run(text, exec, profile);
    expect(exec.spares).toBe(text.length > 8_000 ? 1 : 0);
    expect(await again).toEqual(expected);
  });
});
