/**
 * `crux daemon --internal`: of many daemons started at once, only the one with the lease loads a kernel; the others end
 * before that.
 */
import { join } from "node:path";
import { closeInherited } from "../dev/host/inherited.ts";
import type { KernelApi } from "../kernel/ports/kernel-api.ts";
import { shortHash } from "../lib/short-hash.ts";
import { SteadyClock } from "../lib/time/steady-clock.ts";
import { underUsualFlags } from "../lib/v8-flags.ts";
import { type Lease, takeAnyLease } from "../store/lease.ts";
import { spelled } from "../wire/codec/seat.ts";
import type { Boot } from "./boot-context.ts";
import { thisProcess } from "./host.ts";
import {
  keepInRounds,
  leaveThreadsTheirLimits,
  ownQuiet,
  releaseUnused,
  tuneOnceLoaded,
} from "./own-engine.ts";
import { EXIT_FENCED, EXIT_LOST, runDaemon } from "./run.ts";

/** `code`: what V8 has compiled is kept for the next start, a file for each step. */
export async function daemonMain(
  version: string,
  loadBoot: () => Boot<Lease>,
  code: Iterator<unknown>,
): Promise<never> {
  closeInherited();
  leaveThreadsTheirLimits();
  tuneOnceLoaded();
  releaseUnused();
  // the C library has read it; what the daemon starts is not meant by it
  delete process.env.MALLOC_ARENA_MAX;
  delete process.env.MALLOC_MMAP_THRESHOLD_;
  let kernel: KernelApi | undefined;
  const isQuiet = ownQuiet();
  const keepRest = keepInRounds(code, () => isQuiet() && kernel?.isWorking() === false);
  const clock = new SteadyClock();
  const options = {
    version,
    clock,
    gaps: clock,
    // several home directories may share that directory
    takeLease: (stateDir: string, sharedDir: string) =>
      takeAnyLease(join(stateDir, "journal"), join(sharedDir, `reading-${shortHash(spelled(stateDir))}`)),
  };
  const boot: Boot<Lease> = async (context) => {
    const booted = await loadBoot()(context);
    kernel = booted.kernel;
    return booted;
  };
  const exit = await runDaemon(boot, options);
  // after a disk failure, a thread or a library may wait for the disk forever
  if (exit === EXIT_LOST || exit === EXIT_FENCED) thisProcess.vanish(exit);
  keepRest();
  // under these: Node keeps code of its own at the exit
  return underUsualFlags(() => process.exit(exit));
}

/** `crux daemon --internal-fsck`: a check without a daemon. */
export async function offlineCheck(argv: readonly string[]): Promise<never> {
  return (await import("./fsck.ts")).fsckMain(argv);
}
