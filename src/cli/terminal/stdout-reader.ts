/**
 * Detects that stdout has lost its reader. A write would show it, but a command that follows something quiet writes
 * nothing for hours: `crux attach 7 | head` would outlive its reader. Node cannot check this, so poll(2) is called
 * periodically.
 */
import { fstatSync } from "node:fs";

const LOOK_MS = 500;
const STDOUT = 1;
const POLLERR = 0x8;
const POLLHUP = 0x10;

/**
 * Calls `onGone` once. Works for a pipe and for a socket, which Node gives its children, on a host whose poll(2) is
 * known; otherwise it does nothing.
 */
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
  const stat = fstatSync(STDOUT);
  if (process.platform !== "linux" || !(stat.isFIFO() || stat.isSocket())) return undefined;
  const { default: koffi } = await import("koffi");
  const poll = koffi.load("libc.so.6").func("int poll(void *fds, unsigned long count, int timeout)");
  // struct pollfd: int fd, short events, short revents; both flags are always reported
  const fds = Buffer.alloc(8);
  fds.writeInt32LE(STDOUT, 0);
  return () => {
    fds.writeInt16LE(0, 6);
    return (poll(fds, 1, 0) as number) <= 0 || (fds.readInt16LE(6) & (POLLERR | POLLHUP)) === 0;
  };
}
