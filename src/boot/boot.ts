/** The daemon's composition root: every subsystem is created and mounted here, in start order, and nowhere else. */

import { messageOf } from "../abi/errors.ts";
import type { BootContext, Booted } from "../daemon/boot-context.ts";
import { Kernel } from "../kernel/kernel.ts";
import { isWithin } from "../lib/path.ts";
import type { Lease } from "../store/lease.ts";
import { noticeLine } from "../wire/codec/error.ts";
import { keepJournal, openJournal, unrestoredOf } from "./journal.ts";
import { clearFolders, clearLeftovers } from "./leftovers.ts";
import { mountsOf } from "./mounts.ts";
import { makeParts, type Parts } from "./parts.ts";
import { portsOf } from "./ports.ts";

export async function boot(context: BootContext<Lease>): Promise<Booted> {
  const store = await openJournal(context);
  await clearLeftovers(context, store);
  const parts = makeParts(context, store);
  const kernel = new Kernel(portsOf(parts));
  parts.link.connect(kernel);
  for (const driver of parts.hal) kernel.hal.add(driver);
  for (const [path, device] of mountsOf(kernel, parts)) kernel.mount(path, device);
  if (store.isTouched) {
    await bringBack(kernel, parts);
    parts.sweep.start();
  }
  const { journal } = store;
  const { config, host } = parts;
  const keeper = keepJournal(parts, kernel);
  const closers = [parts.sweep, parts.worktrees, parts.mcp, host.exec, keeper, journal];
  return {
    kernel,
    journal,
    serves: {
      ...{ desk: keeper.desk, tasks: parts.taskStore, trust: parts.trust, models: config.resolver },
      editors: parts.editors,
      loadAgent: parts.agents.load,
      isCoordinator: (cwd) => config.settingsIn(cwd).mode === "coordinator",
      definitions: parts.agents.look,
      notes: (cwd) => parts.guides.notes(cwd),
      sandbox: () => ({ ...host.exec.sandbox, mode: config.permitFor(context.home).sandboxMode ?? "on" }),
      sweptWorktrees: () => parts.sweep.swept,
      metrics: () => parts.machine.system(),
      figuresFrom: (figures) => {
        parts.machine.figures = figures;
      },
      showsCalls: () => config.settings.ui?.calls !== false,
      ...(context.isSafeMode ? await unrestoredOf(journal) : {}),
    },
    settings: (reload) => config.desk(reload),
    ...(store.over && { readOnly: { words: readOnlyWords(kernel), over: store.over } }),
    peers: host.peers,
    processSockets: host.sockets,
    tokens: host.tokens,
    reload: (settings) => {
      config.reload(settings);
      kernel.rights
        .recheckModes()
        .catch((error: unknown) => context.log("error", `modes: ${messageOf(error)}`));
    },
    close: async () => {
      for (const each of closers) await each.close();
    },
  };
}

function readOnlyWords({ journalWatch: { readOnlyWords: message, fact } }: Kernel): string {
  return noticeLine(fact === undefined ? { message } : { message, fact });
}

async function bringBack(kernel: Kernel, { context, worktrees }: Parts): Promise<void> {
  const { paths, clock, log } = context;
  const { lost, restored, resting } = await kernel.recover();
  if (lost.length > 0) log("warn", `lost with the last daemon: pid ${lost.join(", ")}`);
  if (restored.length > 0) log("info", `brought back: pid ${restored.map(({ pid }) => pid).join(", ")}`);
  // only after a recovery: without one, every process whose folders are left may still be restored
  const back = new Set([...restored, ...resting].map(({ uuid }) => uuid));
  for (const { seed } of kernel.table.all())
    if (seed.session.owner !== null) back.add(seed.session.owner.proc);
  clearFolders(paths.stateDir, back, clock.now());
  worktrees.clearLeft((path) => [...kernel.table.all()].some(({ cwd }) => isWithin(path, cwd)));
}
