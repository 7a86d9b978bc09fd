/**
 * A real OS process with the real lease and a kernel that does nothing: `node tiny-daemon.ts`, with paths from the
 * environment.
 */
import { journalDir } from "../../lib/paths.ts";
import { systemClock } from "../../lib/time/system-clock.ts";
import { takeLease } from "../../store/lease.ts";
import { FakeKernel } from "../../wire/server/testing/fake-kernel.ts";
import { runDaemon } from "../run.ts";

const code = await runDaemon(
  async () => {
    console.log("booted");
    return { kernel: new FakeKernel(), serves: { loadAgent: async () => null }, close: async () => {} };
  },
  { version: "0.1.0", clock: systemClock, takeLease: (stateDir) => takeLease(journalDir(stateDir)) },
);
process.exit(code);
