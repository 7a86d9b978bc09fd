/**
 * Does anybody still read what goes to stdout? A write tells, but a command that follows something quiet writes nothing for
 * hours: `crux attach 7 | head` would outlive its reader. Node has no way to ask, so poll(2) is asked now and then.
 */
import { fstatSync } from "node:fs";

const LOOK_MS = 500;
const STDOUT = 1;
const POLLERR = 0x8;

/** `onGone` is called once. Only of a pipe, and where the host's poll is known; else nothing happens. */
export async function watchStdoutReader(onGone: () => void): Promise<Disposable> {
  const hasReader = await readerCheck().catch(() => undefined);
  const timer = setInterval(() => {
    if (hasReader?.() !== false) return;
    clearInterval(timer);
    onGone();
  }, LOOK_MS);
  timer.unref();
  if (hasReader === undefined) clearInterval(timer);
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

async function readerCheck(): Promise<(() => boolean) | undefined> {
  if (process.platform !== "linux" || !fstatSync(STDOUT).isFIFO()) return undefined;
  const { default: koffi } = await import("koffi");
  const poll = koffi.load("libc.so.6").func("int poll(void *fds, unsigned long count, int timeout)");
  // struct pollfd: int fd, short events, short revents; POLLERR is told unasked
  const fds = Buffer.alloc(8);
  fds.writeInt32LE(STDOUT, 0);
  return () => {
    fds.writeInt16LE(0, 6);
    return (poll(fds, 1, 0) as number) <= 0 || (fds.readInt16LE(6) & POLLERR) === 0;
  };
}
