/** The programs that every process finds at /bin. */
import { agent } from "../tool/agent/agent.ts";
import { askUser } from "../tool/ask_user/ask_user.ts";
import { bash } from "../tool/bash/bash.ts";
import { context } from "../tool/context/context.ts";
import { coroutine } from "../tool/coroutine/coroutine.ts";
import { edit } from "../tool/edit/edit.ts";
import { fetchTool } from "../tool/fetch/fetch.ts";
import { gitStatus } from "../tool/git_status/git_status.ts";
import { glob } from "../tool/glob/glob.ts";
import { grep } from "../tool/grep/grep.ts";
import { jobKill } from "../tool/job_kill/job_kill.ts";
import { jobOutput } from "../tool/job_output/job_output.ts";
import { ls } from "../tool/ls/ls.ts";
import { multiEdit } from "../tool/multi_edit/multi_edit.ts";
import { notebookEdit } from "../tool/notebook_edit/notebook_edit.ts";
import { pin } from "../tool/pin/pin.ts";
import { pipe } from "../tool/pipe/pipe.ts";
import { planEnter } from "../tool/plan_enter/plan_enter.ts";
import { planExit } from "../tool/plan_exit/plan_exit.ts";
import { processControl } from "../tool/process_control/process_control.ts";
import { processRead } from "../tool/process_read/process_read.ts";
import { processSpawn } from "../tool/process_spawn/process_spawn.ts";
import { processWrite } from "../tool/process_write/process_write.ts";
import { send } from "../tool/send/send.ts";
import { signals } from "../tool/signals/signals.ts";
import { skill } from "../tool/skill/skill.ts";
import { sleep } from "../tool/sleep/sleep.ts";
import { snip } from "../tool/snip/snip.ts";
import { stop } from "../tool/stop/stop.ts";
import { supervise } from "../tool/supervise/supervise.ts";
import { taskCreate } from "../tool/task_create/task_create.ts";
import { taskGet } from "../tool/task_get/task_get.ts";
import { taskList } from "../tool/task_list/task_list.ts";
import { taskUpdate } from "../tool/task_update/task_update.ts";
import { teamCreate } from "../tool/team_create/team_create.ts";
import { teamDelete } from "../tool/team_delete/team_delete.ts";
import { thread } from "../tool/thread/thread.ts";
import { todo } from "../tool/todo/todo.ts";
import { view } from "../tool/view/view.ts";
import { webSearch } from "../tool/web_search/web_search.ts";
import { worktreeEnter } from "../tool/worktree_enter/worktree_enter.ts";
import { worktreeExit } from "../tool/worktree_exit/worktree_exit.ts";
import { write } from "../tool/write/write.ts";

export const TOOLS = [
  agent,
  askUser,
  bash,
  context,
  coroutine,
  edit,
  fetchTool,
  gitStatus,
  glob,
  grep,
  jobKill,
  jobOutput,
  ls,
  multiEdit,
  notebookEdit,
  pin,
  pipe,
  planEnter,
  planExit,
  processControl,
  processRead,
  processSpawn,
  processWrite,
  send,
  signals,
  skill,
  sleep,
  snip,
  stop,
  supervise,
  taskCreate,
  taskGet,
  taskList,
  taskUpdate,
  teamCreate,
  teamDelete,
  thread,
  todo,
  view,
  webSearch,
  worktreeEnter,
  worktreeExit,
  write,
];
