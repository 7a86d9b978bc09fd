/** Every device and its mount point. */
import { join } from "node:path";
import type { Device } from "../abi/device.ts";
import type { Pid } from "../abi/ids.ts";
import type { Settings } from "../abi/settings/settings.ts";
import { fsDevice } from "../dev/fs/device.ts";
import { gitDevice } from "../dev/git/device.ts";
import { worktreeDevice } from "../dev/git/worktree-device.ts";
import { halDevice } from "../dev/hal/device.ts";
import { realPath } from "../dev/host/real-path.ts";
import { nativeDevice } from "../dev/native/device.ts";
import { nullDevice } from "../dev/null/device.ts";
import { outDevice } from "../dev/out/device.ts";
import { planDevice } from "../dev/plan/device.ts";
import { procDevice } from "../dev/proc/device.ts";
import { shellDevice } from "../dev/shell/device.ts";
import { tasksDevice } from "../dev/tasks/device.ts";
import { teamsDevice } from "../dev/tasks/teams.ts";
import { todoDevice } from "../dev/tasks/todo.ts";
import { ttyDevice } from "../dev/tty/device.ts";
import { PageCache } from "../dev/web/cache.ts";
import { webDevice } from "../dev/web/device.ts";
import { hostPorts } from "../dev/web/ports.ts";
import type { Kernel } from "../kernel/kernel.ts";
import { HAL_MOUNT } from "../kernel/ports/hal.ts";
import type { ProcView } from "../kernel/ports/proc-view.ts";
import { RedactedBytes } from "../lib/redact/bytes.ts";
import { modelDevices } from "../llm/devices/devices.ts";
import { toolDevice } from "../tool/device.ts";
import type { Parts } from "./parts.ts";
import { TOOLS } from "./tools.ts";

export function mountsOf(kernel: Kernel, parts: Parts): readonly (readonly [path: string, Device])[] {
  const { context, host, outputs, taskStore, tasks } = parts;
  const { env, clock } = context;
  const { exec } = host;
  const ask: Kernel["askPerson"] = (pid, items, signal) => kernel.askPerson(pid, items, signal);
  const placeOf = ({ pid }: { pid: Pid }) => kernel.taskPlace(pid);
  return [
    ["/dev/null", nullDevice],
    [
      "/dev/fs",
      fsDevice({
        ...{ exec, clock, realPath, env },
        closed: parts.git.closed,
        checkRoom: (real, less) => parts.scratchpads.checkRoom(real, less),
        isSecret: parts.isSecret,
        editorOf: (pid) => parts.editors.find(pid),
      }),
    ],
    ["/dev/shell", shellOf(parts)],
    ["/dev/native", nativesOf(parts)],
    ...modelsOf(parts, kernel.view()),
    ["/dev/web", webOf(parts)],
    ["/dev/git", gitDevice(parts.git)],
    ["/dev/todo", todoDevice()],
    ["/dev/plan", planDevice(() => kernel.plans)],
    ["/dev/worktree", worktreeDevice(() => kernel.trees)],
    ["/dev/tty", ttyDevice({ ask })],
    ["/var/out", outDevice(outputs, kernel.view())],
    ["/var/tasks", tasksDevice({ store: taskStore, tasks, placeOf })],
    ["/var/teams", teamsDevice(({ pid }) => kernel.team(pid))],
    ...parts.hal.map(
      (driver) => [`${HAL_MOUNT}/${driver.identity.id}`, halDevice(kernel.hal, driver)] as const,
    ),
    ["/proc", procDevice(kernel.view())],
    ["/bin", toolDevice(TOOLS, { now: () => clock.now(), ...ofTools(parts) })],
  ];
}

function ofTools({ config }: Parts) {
  return {
    tasks: () => config.settings.tasks,
    snips: (cwd: string) => config.settingsIn(cwd).context?.snip === true,
    mayTeam: (cwd: string) => config.settingsIn(cwd).teams?.enabled !== false,
    background: (cwd: string) => {
      const {
        disableBackground: isOff,
        autoBackgroundMs: afterMs,
        fork,
      } = config.settingsIn(cwd).agents ?? {};
      return {
        ...(isOff === undefined ? {} : { isOff }),
        ...(afterMs === undefined ? {} : { afterMs }),
        ...(fork === true ? { forks: true } : {}),
      };
    },
  };
}

function shellOf({ context, config, host, outputs, jobs }: Parts): Device {
  const { env, clock, redactor } = context;
  return shellDevice({
    exec: host.exec,
    outputs,
    clock,
    jobs,
    mayBackground: (own) => mayBackground(config.settings, own),
    ...autoJobMs(env),
    ...(redactor === undefined ? {} : { redacted: () => new RedactedBytes(redactor) }),
    socketOf: host.socketOf,
    passes: (shell, cwd) => host.passes({ argv: ["bash", "-c", shell], shell, certain: false }, cwd),
  });
}

function nativesOf({ context: { clock }, spools, link }: Parts): Device {
  return nativeDevice({
    clock,
    spools,
    natives: () => link.kernel.natives,
    notify: (pid, text) => link.kernel.notify(pid, text),
    reap: (pid) => link.kernel.init.reap(pid),
  });
}

/** Whether commands may run in the background: unless the settings or the caller's environment forbid it. */
function mayBackground({ bash: shell }: Settings, env: Readonly<Record<string, string>>): boolean {
  return shell?.background !== false && env.CRUX_DISABLE_BACKGROUND !== "1";
}

/** The time after which a command moves to the background, from the environment; absent: a minute. */
function autoJobMs(env: Readonly<Record<string, string>>): { autoJobMs?: number } {
  const ms = Number(env.CRUX_AUTO_BACKGROUND_MS);
  return Number.isInteger(ms) && ms >= 1 ? { autoJobMs: ms } : {};
}

function modelsOf({ context, config, host }: Parts, view: ProcView): readonly (readonly [string, Device])[] {
  const { paths, clock } = context;
  const devices = modelDevices({
    exec: host.exec,
    tmpDir: join(paths.stateDir, "tmp"),
    clock,
    settings: (cwd) => config.settingsIn(cwd),
    learn: (keys) => context.redactor?.learn(keys),
    lanes: (viewer, device) => view.lanes(viewer, device),
  });
  return devices.map((device) => [`/dev/llm/${device.name}`, device]);
}

function webOf({ context, config, outputs }: Parts): Device {
  const { clock, version } = context;
  return webDevice({
    ports: hostPorts,
    cache: new PageCache(() => clock.mono()),
    outputs,
    clock,
    version,
    isPrivate: (hostAndPort) => config.settings.web?.private?.includes(hostAndPort) === true,
  });
}
