import type { Call } from "../command.ts";
import { Keyboard } from "../terminal/keyboard.ts";

/** A typed y is yes; anything else, including Ctrl-C, is no. */
export async function confirm({ host }: Call, question: string): Promise<boolean> {
  const left = new AbortController();
  const unlisten = host.interrupts.listen(() => left.abort());
  const write = (text: string): Promise<void> => new Promise((done) => void host.stdout.write(text, done));
  try {
    using keyboard = new Keyboard(host.stdin, () => left.abort());
    await keyboard.open(left.signal);
    await write(`${question} [y/N] `);
    const isYes = /^y(?:es)?$/i.test(((await keyboard.next(left.signal)) ?? "").trim());
    await write(isYes ? "yes\n" : "no\n");
    return isYes;
  } finally {
    unlisten();
  }
}
