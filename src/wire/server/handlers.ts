/** The methods of the registry, one file each if they take more than a few lines. A missing method does not compile. */

import { asPid } from "../../abi/ids.ts";
import type { Result } from "../../abi/methods/methods.ts";
import type { ServerDeps } from "./deps.ts";
import type { Handlers } from "./handler.ts";
import { askAnswer } from "./handlers/ask-answer.ts";
import { attachDebug } from "./handlers/attach-debug.ts";
import { auth } from "./handlers/auth.ts";
import { budgetGet, budgetSet, costGet } from "./handlers/budget.ts";
import { composeConfig } from "./handlers/compose/config.ts";
import { composeDown } from "./handlers/compose/down.ts";
import { composeLogs } from "./handlers/compose/logs.ts";
import { composePs } from "./handlers/compose/ps.ts";
import { composeUp } from "./handlers/compose/up.ts";
import {
  contextClear,
  contextCompact,
  contextMemory,
  contextPin,
  contextSnip,
  contextStat,
  contextUndo,
  contextUnpin,
} from "./handlers/context.ts";
import { credentialList, credentialRemove, credentialSet } from "./handlers/credential.ts";
import { agentsCheck, skillsCheck } from "./handlers/definitions.ts";
import { fileList, fileRead } from "./handlers/file.ts";
import { groupJoin, groupLeave, groupList, groupSignal } from "./handlers/group.ts";
import { jobList, jobOutput } from "./handlers/job.ts";
import { journalCheck, journalCollect, journalRoots, journalVerify } from "./handlers/journal.ts";
import { journalRead } from "./handlers/journal-read.ts";
import { kernelMetrics } from "./handlers/kernel-metrics.ts";
import { kill } from "./handlers/kill.ts";
import { listProcs, processEnded, processList } from "./handlers/list-procs.ts";
import { mailSend } from "./handlers/mail-send.ts";
import { mcpList, mcpMount, mcpUnmount } from "./handlers/mcp.ts";
import { memoryList } from "./handlers/memory.ts";
import { modelList, modelResolve, processModel } from "./handlers/models.ts";
import { processAttach } from "./handlers/process/attach.ts";
import { processFork, processSteps } from "./handlers/process/fork.ts";
import { processLogs } from "./handlers/process/logs.ts";
import { processNote } from "./handlers/process/note.ts";
import { processRecords, processReplay } from "./handlers/process/replay.ts";
import { processResume } from "./handlers/process/resume.ts";
import { processRewind } from "./handlers/process/rewind.ts";
import { processSignal } from "./handlers/process/signal.ts";
import { processWait } from "./handlers/process/wait.ts";
import { processRenice } from "./handlers/process-renice.ts";
import {
  autoModeConfig,
  grantAdd,
  grantList,
  grantRemove,
  labelClear,
  labelList,
  processMode,
} from "./handlers/rights.ts";
import { sessionAside } from "./handlers/session-aside.ts";
import { answerFile, serveFiles } from "./handlers/session-files.ts";
import { sessionDescribe, sessionHistory, sessionList } from "./handlers/session-history.ts";
import { sessionChange, sessionOpen } from "./handlers/session-open.ts";
import { sessionSay, sessionWithdraw } from "./handlers/session-say.ts";
import { settingsList, settingsSet } from "./handlers/settings.ts";
import { spawn } from "./handlers/spawn.ts";
import { restartChild, startChild, stopChild } from "./handlers/supervisor.ts";
import { taskList } from "./handlers/task-list.ts";
import { trustAdd, trustDecline, trustList, trustRemove, trustShow } from "./handlers/trust.ts";

export const HANDLERS: Handlers = {
  ping: async (_params, { deps }) => ({ payload: { version: deps.version, ...modeOf(deps) } }),
  spawn,
  list_procs: listProcs,
  kill,
  attach_debug: attachDebug,
  // the response is written out, then shutdown begins, then the connection closes
  shutdown: async (_params, call) => ({ payload: undefined, follow: async () => call.deps.shutdown() }),
  "process.wait": processWait,
  "process.list": processList,
  "process.ended": processEnded,
  "process.signal": processSignal,
  "process.note": processNote,
  "process.renice": processRenice,
  "process.model": processModel,
  "process.background": async ({ pid }, { kernel }) => ({
    payload: { handed_over: [...(await kernel.handOver(asPid(pid)))] },
  }),
  "process.resume": processResume,
  "process.attach": processAttach,
  "process.logs": processLogs,
  "process.steps": processSteps,
  "process.fork": processFork,
  "process.rewind": processRewind,
  "process.replay": processReplay,
  "process.records": processRecords,
  "process.mode": processMode,
  "label.list": labelList,
  "label.clear": labelClear,
  "auto_mode.config": autoModeConfig,
  "grant.list": grantList,
  "grant.add": grantAdd,
  "grant.remove": grantRemove,
  "trust.list": trustList,
  "trust.show": trustShow,
  "trust.add": trustAdd,
  "trust.decline": trustDecline,
  "trust.remove": trustRemove,
  "credential.list": credentialList,
  "credential.set": credentialSet,
  "credential.remove": credentialRemove,
  "settings.list": settingsList,
  "settings.set": settingsSet,
  "model.resolve": modelResolve,
  "model.list": modelList,
  "file.list": fileList,
  "file.read": fileRead,
  "group.list": groupList,
  "group.signal": groupSignal,
  "group.join": groupJoin,
  "group.leave": groupLeave,
  "mail.send": mailSend,
  "session.list": sessionList,
  "session.open": sessionOpen,
  "session.change": sessionChange,
  "session.say": sessionSay,
  "session.withdraw": sessionWithdraw,
  "session.aside": sessionAside,
  "session.serve_files": serveFiles,
  "session.answer_file": answerFile,
  "session.history": sessionHistory,
  "session.describe": sessionDescribe,
  "context.stat": contextStat,
  "context.compact": contextCompact,
  "context.undo": contextUndo,
  "context.clear": contextClear,
  "context.memory": contextMemory,
  "context.snip": contextSnip,
  "context.pin": contextPin,
  "context.unpin": contextUnpin,
  "supervisor.start_child": startChild,
  "supervisor.stop_child": stopChild,
  "supervisor.restart_child": restartChild,
  "compose.config": composeConfig,
  "compose.up": composeUp,
  "compose.down": composeDown,
  "compose.ps": composePs,
  "compose.logs": composeLogs,
  "mcp.list": mcpList,
  "mcp.mount": mcpMount,
  "mcp.unmount": mcpUnmount,
  "kernel.metrics": kernelMetrics,
  "job.list": jobList,
  "job.output": jobOutput,
  "task.list": taskList,
  "agents.check": agentsCheck,
  "skills.check": skillsCheck,
  "memory.list": memoryList,
  "journal.check": journalCheck,
  "journal.verify": journalVerify,
  "journal.roots": journalRoots,
  "journal.read": journalRead,
  "journal.collect": journalCollect,
  "budget.get": budgetGet,
  "budget.set": budgetSet,
  "cost.get": costGet,
  "ask.answer": askAnswer,
  auth,
  "kernel.status": async (_params, call) => ({
    payload: {
      version: call.deps.version,
      os_pid: process.pid,
      processes: call.kernel.active(),
      connections: call.connections,
      uptime_ms: call.uptimeMs,
      ...modeOf(call.deps),
      ...(call.deps.arePeersRead === false ? { peers: "directory" as const } : {}),
      ...(call.deps.sandbox === undefined ? {} : { sandbox: call.deps.sandbox() }),
      ...sweptOf(call.deps),
    },
  }),
};

function sweptOf({ sweptWorktrees }: ServerDeps): Pick<Result<"kernel.status">, "swept_worktrees"> {
  const swept = sweptWorktrees?.() ?? [];
  return swept.length === 0 ? {} : { swept_worktrees: [...swept] };
}

function modeOf({
  isSafeMode = false,
  unrestored,
  readOnly,
}: ServerDeps): Pick<Result<"ping">, "safe_mode" | "unrestored" | "read_only"> {
  return {
    ...(isSafeMode ? { safe_mode: true } : {}),
    ...(unrestored === undefined ? {} : { unrestored: { ...unrestored, pids: [...unrestored.pids] } }),
    ...(readOnly === undefined ? {} : { read_only: readOnly }),
  };
}
