/** Fake OS children: each ends when its signal fires. For tests of the kernel that start none. */
import type { HostExec } from "../ports/host.ts";

export function fakeExec(): HostExec {
  return {
    live: 0,
    ownership: "group",
    find: ({ argv }) => argv[0] ?? "",
    run: (_spec, signal) => {
      const exited = new Promise<{ code: null; signal: string }>((resolve) => {
        const end = (): void => resolve({ code: null, signal: "SIGTERM" });
        if (signal.aborted) end();
        else signal.addEventListener("abort", end, { once: true });
      });
      return {
        osPid: 1,
        exited,
        write: async () => {},
        endInput: () => {},
        signal: () => true,
        kill: async () => {},
      };
    },
    close: async () => {},
  };
}
