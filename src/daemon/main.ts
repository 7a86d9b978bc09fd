/** `crux daemon --internal`: of many daemons started at once, all but the one with the lease end before they load a kernel. */
import { join } from "node:path";
import { systemClock } from "../lib/system-clock.ts";
import { type Lease, takeLease } from "../store/lease.ts";
import { type Boot, runDaemon } from "./run.ts";

export async function daemonMain(version: string, loadBoot: () => Promise<Boot<Lease>>): Promise<never> {
  const options = {
    version,
    clock: systemClock,
    takeLease: (stateDir: string) => takeLease(join(stateDir, "journal")),
  };
  process.exit(await runDaemon<Lease>(async (context) => (await loadBoot())(context), options));
}
