/** The parts that the kernel is built from, each after the parts that it needs. */
import { createHmac, createSecretKey, randomUUID } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { agentDesk } from "../daemon/agent-desk.ts";
import { type BootContext, ownDirs } from "../daemon/boot-context.ts";
import { Configuration } from "../daemon/configuration.ts";
import { grantKey } from "../daemon/grant-key.ts";
import { GuideDesk } from "../daemon/guides.ts";
import { MemoryDesk } from "../daemon/memory/memory-desk.ts";
import { policyDirOf } from "../daemon/settings/sources.ts";
import { definitionFiles } from "../daemon/skills/definition-files.ts";
import { SkillDesk } from "../daemon/skills/skill-desk.ts";
import { ownSkillFolders, type SkillPlaces } from "../daemon/skills/skill-folders.ts";
import { SkillUsage } from "../daemon/skills/skill-usage.ts";
import { TrustStore } from "../daemon/trust/store.ts";
import { Trust } from "../daemon/trust/trust.ts";
import { Editors } from "../dev/fs/editors.ts";
import type { GitDeps } from "../dev/git/status.ts";
import { GitSummaries } from "../dev/git/summary.ts";
import { WorktreeSweep } from "../dev/git/worktree-sweep.ts";
import { GitWorktrees } from "../dev/git/worktrees.ts";
import { halDrivers } from "../dev/hal/drivers.ts";
import { Machine } from "../dev/hal/machine.ts";
import { realPath } from "../dev/host/real-path.ts";
import { mcpHost } from "../dev/mcp/host.ts";
import { OutputStore } from "../dev/out/output-store.ts";
import { ScratchStore } from "../dev/out/scratch.ts";
import { ScratchpadStore } from "../dev/out/scratchpads.ts";
import { DiskSpools } from "../dev/out/spool.ts";
import { Jobs } from "../dev/shell/jobs.ts";
import { TaskStore } from "../dev/tasks/store.ts";
import { Tasks } from "../dev/tasks/tasks.ts";
import { uniteLabels } from "../kernel/labels/label-set.ts";
import { secretPaths } from "../permit/rules/protected.ts";
import { closedToHelpers } from "../permit/sandbox/profile.ts";
import type { Lease } from "../store/lease.ts";
import { Host } from "./host.ts";
import type { OpenJournal } from "./journal.ts";
import { KernelLink } from "./kernel-link.ts";
import { TOOLS } from "./tools.ts";
import { oldestUsed, workplaces } from "./workplaces.ts";

/** How long the start of an agent waits for git. */
const GIT_MS = 1_000;

export type Parts = ReturnType<typeof makeParts>;

export function makeParts(context: BootContext<Lease>, store: OpenJournal) {
  const { paths, home, clock, log, version } = context;
  const { stateDir, configDir } = paths;
  const link = new KernelLink();
  const trust = trustOf(context, store);
  const lib = join(packageRoot(), "lib");
  const places = { home, configDir, lib, policyDir: policyDirOf(process.platform) };
  const config = new Configuration(context, { realPath, trust, skillPaths: ownSkillFolders(places) });
  const host = new Host({ context, store, config, link });
  const machine = new Machine(clock, stateDir);
  const hal = halDrivers(clock, machine, config.settings.devices);
  const outputs = new OutputStore(join(stateDir, "outputs"));
  const spools = new DiskSpools(join(stateDir, "spools"));
  const scratch = new ScratchStore(join(stateDir, "scratch"));
  const scratchpads = new ScratchpadStore(join(stateDir, "scratchpads"), {
    isForAll: () => config.settings.agents?.scratchpad === true,
    warn: (line) => log("warn", line),
  });
  const jobs = new Jobs({
    outputs,
    now: () => clock.now(),
    notify: (pid, text) => link.kernel.notify(pid, text),
    onEnd: (pid) => link.kernel.rested(pid),
  });
  const taskStore = new TaskStore(join(stateDir, "tasks"), clock);
  const tasks = new Tasks({
    store: taskStore,
    hasEnded: (pid) => link.kernel.hasEnded(pid),
    unite: uniteLabels,
    notify: (pid, note) => link.kernel.notify(pid, note),
    nonce: randomUUID,
  });
  const editors = new Editors({
    clock,
    sessionOf: (pid) => link.kernel.taskPlace(pid)?.leader ?? pid,
  });
  const agents = agentDesk({
    ...places,
    log,
    trust,
    settings: (cwd) => config.settingsIn(cwd),
    tools: TOOLS.map(({ name }) => name),
  });
  const git = gitOf(context, host);
  const summaries = new GitSummaries({
    ...git,
    mono: () => clock.mono(),
    maxMs: GIT_MS,
  });
  const { worktrees, sweep } = worktreesOf(context, { git, store, link, config });
  const isSecret = secretPaths(home, realPath);
  const guides = new GuideDesk({
    ...places,
    isSecret,
    trust,
    gitState: (cwd, owner) => summaries.of(cwd, owner),
    agents: (guided) => agents.lines(guided),
    skills: skillsOf(context, { places, trust, config }),
    memory: new MemoryDesk({
      folders: (root) => config.policyFor(root).memory,
      isOff: (root) => !config.policyFor(root).merged.hasMemory,
      isTaken: (root) => config.policyFor(root).merged.takesNotes,
      isTidied: (root) => config.policyFor(root).merged.tidiesNotes,
      isLabelled: (path, sha256) =>
        link.kernel.fileLabels.at(path, false).some((file) => file.sha256 === sha256),
    }),
  });
  const mcp = mcpHost({ exec: host.exec, services: () => link.kernel.services, clock, home, version });
  const key = createSecretKey(grantKey(stateDir, (message) => log("warn", message)));
  // a secret gets the same mark under every daemon of this state directory
  context.redactor?.useKey(createHmac("sha256", key).update("redacted").digest());
  return {
    ...{ context, store, link, trust, config, host, outputs, spools, scratch, scratchpads },
    ...{ editors, jobs, taskStore, tasks, agents, guides, mcp, isSecret, key },
    ...{ machine, hal, git, worktrees, sweep },
  };
}

function gitOf(context: BootContext<Lease>, { exec }: Host): GitDeps {
  const { home, env, clock } = context;
  const kernelPaths = ownDirs(context);
  return { exec, clock, env, closed: () => closedToHelpers({ home, kernelPaths, realPath }) };
}

function worktreesOf(
  { paths: { stateDir }, clock, log }: BootContext<Lease>,
  { git, store, link, config }: { git: GitDeps; store: OpenJournal; link: KernelLink; config: Configuration },
) {
  const reposDir = join(stateDir, "repositories");
  const worktrees = new GitWorktrees({
    ...git,
    reposDir,
    notesDir: join(stateDir, "worktrees"),
    warn: (line) => log("warn", line),
  });
  const sweep = new WorktreeSweep({
    ...{ reposDir, clock, log },
    oldest: () => oldestUsed(join(stateDir, "worktrees-checked"), clock.now(), config.settings),
    users: () => workplaces(link, store),
    removeOld: (worktree, isOld) => worktrees.removeOld(worktree, isOld),
  });
  return { worktrees, sweep };
}

function skillsOf(
  { paths, clock, log }: BootContext<Lease>,
  { places, trust, config }: { places: SkillPlaces; trust: Trust; config: Configuration },
): SkillDesk {
  const usage = new SkillUsage({
    file: join(paths.stateDir, "skill-usage.json"),
    now: () => clock.now(),
    warn: (line) => log("warn", line),
  });
  const settings = (cwd: string) => {
    const { skills = {}, disableSkillShell = false } = config.settingsIn(cwd);
    return { disabled: skills.disabled ?? [], runsCommands: !disableSkillShell };
  };
  return new SkillDesk({ ...places, trust, files: definitionFiles, usage, settings });
}

/** Without a writable disk, no decision of trust is stored. */
function trustOf({ paths, home, env, clock, log }: BootContext<Lease>, { isWritable }: OpenJournal): Trust {
  const warn = (line: string) => log("warn", line);
  const store = new TrustStore({ stateDir: paths.stateDir, isWritable, warn });
  return new Trust({
    store,
    home,
    realPath,
    tmpDir: env.TMPDIR,
    now: () => clock.now(),
    mono: () => clock.mono(),
    log,
  });
}

/** The root of the package: the parent of dist/, or two folders above this file. */
function packageRoot(): string {
  const here = import.meta.dirname;
  return basename(here) === "dist" ? dirname(here) : dirname(dirname(here));
}
