/**
 * `crux demo`: a tour of about a minute, with a folder and a daemon of its own. Its model is a script, which the tour
 * states.
 */
import type { Call, Command } from "../../command.ts";
import { Keyboard } from "../../terminal/keyboard.ts";
import { DemoSandbox } from "./sandbox.ts";
import { STEPS, type TourStage } from "./steps.ts";

export const demo: Command = { flags: { yes: { type: "boolean", short: "y" } }, run };

async function run(call: Call): Promise<number> {
  const { args, console, host } = call;
  const isTerminal = host.stdin.isTTY === true && host.stdout.isTTY === true;
  const isAsking = isTerminal && !args.flags.has("yes");
  const stop = new AbortController();
  const unlisten = host.interrupts.listen(() => stop.abort());
  const sandbox = new DemoSandbox(host.env);
  const release = host.lifecycle.onEnd(() => sandbox.close());
  const say = (text: string): Promise<void> => (console.isScreen ? console.aside(text) : console.line(text));
  const prompt = (command: string, program = "crux "): Promise<void> =>
    console.line(`\n${console.paint.dim("$")} ${program}${command}`);
  const stage: TourStage = { sandbox, signal: stop.signal, isAsking, say, prompt };
  try {
    await say(`A tour of Crux in ${STEPS.length} steps. Its model is a script, every screen is real.`);
    await say(`It has a folder and a daemon of its own, which go when it ends: ${sandbox.root}`);
    for (const [at, { title, words, run: act }] of STEPS.entries()) {
      if (isAsking) await untilEnter(call, stop);
      stop.signal.throwIfAborted();
      await say(`\n${console.paint.green(`${at + 1}/${STEPS.length} ${title}`)}\n${words}`);
      await act(stage);
    }
    await say(`\nThat was all. Next: crux "count the lines of every file here and write them to LINES.md"`);
    return 0;
  } catch (error) {
    if (stop.signal.aborted) return 130;
    throw error;
  } finally {
    unlisten();
    release();
    sandbox.close();
  }
}

async function untilEnter({ host }: Call, stop: AbortController): Promise<void> {
  const write = (text: string): Promise<void> => new Promise((done) => void host.stdout.write(text, done));
  using keyboard = new Keyboard(host.stdin, () => stop.abort());
  await keyboard.open(stop.signal);
  await write("\n[Enter] continues, Ctrl-C ends ");
  for (;;) {
    const keys = await keyboard.next(stop.signal);
    if (keys === undefined || stop.signal.aborted) break;
    if (/[\r\n ]/.test(keys)) break;
  }
  await write("\n");
}
