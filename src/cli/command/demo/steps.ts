/** The five steps of the tour: the text before each, and the command it runs. */
import { once } from "node:events";
import { DriverError } from "../../../abi/errors.ts";
import { type DemoSandbox, killQuietly } from "./sandbox.ts";

export interface TourStage {
  readonly sandbox: DemoSandbox;
  readonly signal: AbortSignal;
  /** A user is at the terminal and can be asked. */
  readonly isAsking: boolean;
  say(text: string): Promise<void>;
  /** Prints the command as it would be typed. */
  prompt(command: string, program?: string): Promise<void>;
}

interface Step {
  readonly title: string;
  readonly words: string;
  run(stage: TourStage): Promise<void>;
}

async function crux(
  stage: TourStage,
  args: readonly string[],
  codes: readonly number[] = [0],
): Promise<void> {
  await stage.prompt(typed(args));
  const code = await stage.sandbox.show(args, stage.isAsking ? "inherit" : "ignore");
  stage.signal.throwIfAborted();
  if (!codes.includes(code ?? -1)) throw failed(args, code);
}

/** Returns the pid that `-d -q` prints. */
async function detached(stage: TourStage, intent: string): Promise<string> {
  const args = ["-d", "-q", "--permission-mode", "accept_edits", intent];
  await stage.prompt(typed(args));
  const { code, stdout } = await stage.sandbox.read(args);
  stage.signal.throwIfAborted();
  if (code !== 0) throw failed(args, code);
  await stage.say(stdout.trim());
  return stdout.trim();
}

/** The pid of the process that the steps after the second use. */
let chapters = "";

export const STEPS: readonly Step[] = [
  {
    title: "A question at the gate",
    words: "An agent is a process. Before it writes, the gate asks you, with the content in view.",
    run: async (stage) => {
      await stage.sandbox.wake(stage.signal);
      if (!stage.isAsking) {
        await stage.say("Nobody is at a terminal here: the gate refuses, and names what would allow it.");
        await crux(stage, ["greet me"], [0, 1]);
        await crux(stage, ["--allow", "write", "greet me"]);
      } else await crux(stage, ["greet me"], [0, 1]);
    },
  },
  {
    title: "kill -9, and nothing is lost",
    words: "A process writes two chapters. Between them its daemon is killed, as by a power cut.",
    run: async (stage) => {
      chapters = await detached(stage, "write chapters");
      await stage.sandbox.until("one.txt", stage.signal);
      const daemon = stage.sandbox.daemonPid;
      if (daemon === undefined) throw failed(["daemon", "status"], null);
      await stage.prompt(`kill -9 ${daemon}`, "");
      killQuietly(daemon);
      await stage.say("The next command starts another daemon, which continues from the journal.");
      await stage.sandbox.wake(stage.signal);
      await crux(stage, ["ps"]);
      await crux(stage, ["wait", chapters]);
      await crux(stage, ["steps", chapters]);
    },
  },
  {
    title: "Going back",
    words: "Each step is kept: the files of the last one are put back, and the process is forked there.",
    run: (stage) => crux(stage, ["rewind", chapters, "--at", "1", "--files", "--yes"]),
  },
  {
    title: "Replay",
    words: "The run is played again from its records, without a model, and compared with what happened.",
    run: (stage) => crux(stage, ["replay", chapters]),
  },
  {
    title: "Three agents in a pipe",
    words: "stdin is the data, the argument the intent, stdout the result.",
    run: pipe,
  },
];

async function pipe(stage: TourStage): Promise<void> {
  const runs = ["name three rivers", "sort them", "make one line"].map((intent) => ["-q", intent]);
  await stage.prompt(runs.map(typed).join(" | crux "));
  const [first, second, third] = [
    stage.sandbox.start(runs[0] ?? [], ["ignore", "pipe", "inherit"]),
    stage.sandbox.start(runs[1] ?? [], ["pipe", "pipe", "inherit"]),
    stage.sandbox.start(runs[2] ?? [], ["pipe", "inherit", "inherit"]),
  ];
  for (const [from, to] of [
    [first, second],
    [second, third],
  ] as const) {
    to.stdin?.on("error", () => {});
    if (to.stdin !== null) from.stdout?.pipe(to.stdin);
  }
  const [code] = (await once(third, "close")) as [number | null];
  stage.signal.throwIfAborted();
  if (code !== 0) throw failed(runs[2] ?? [], code);
}

function typed(args: readonly string[]): string {
  return args.map((arg) => (/^[\w./:=-]+$/.test(arg) ? arg : `"${arg}"`)).join(" ");
}

function failed(args: readonly string[], code: number | null): DriverError {
  const message = `crux ${typed(args)} ended with ${code ?? "a signal"}`;
  return new DriverError({ code: "INTERNAL", op: "Write", device: "demo", message });
}
