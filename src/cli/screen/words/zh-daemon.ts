/**
 * The errors of the daemon in Chinese, by their code and fact. A text that is not known here is shown as it came.
 */
import type { ErrorCode } from "../../../abi/errno.ts";
import type { WireError } from "../../../abi/errors.ts";
import type { Fact } from "../../../abi/fact.ts";
import type { PermissionMode } from "../../../abi/process.ts";
import { shellWord } from "../../../lib/shell-word.ts";
import { flagsOf, nextStep, printedWire } from "../../../wire/codec/error.ts";

export const MODES: Readonly<Record<PermissionMode, string>> = {
  plan: "计划",
  dont_ask: "不询问",
  default: "默认",
  accept_edits: "接受编辑",
  auto: "自动",
  bypass: "跳过权限",
};

const CODES: Readonly<Record<ErrorCode, string>> = {
  TIMEOUT: "超时",
  NOT_FOUND: "未找到",
  PERMISSION: "不允许",
  INTERNAL: "内部错误",
  DRIVER: "设备出错",
  INVALID: "参数无效",
  BUDGET: "超出预算",
  CONFLICT: "当前状态不允许",
  CANCELLED: "已取消",
  UNAVAILABLE: "暂不可用",
};

type Words<F> = string | ((fact: F) => string);
/** What happened, and what to type next. undefined: as it came, because it says what the fact does not. */
type Row<F> = readonly [said: Words<F> | undefined, next: Words<F> | undefined];

const FACTS: { readonly [K in Fact["kind"]]: Row<Extract<Fact, { kind: K }>> } = {
  no_process: [({ pid }) => `没有 PID 为 ${pid} 的进程`, "crux ps 列出进程"],
  no_history: [
    ({ pid }) => `PID ${pid} 没有记录，或其记录已被清除`,
    "crux ps 列出正在运行的，crux sessions 列出正在休眠的",
  ],
  ended: [({ pid }) => `PID ${pid} 已结束`, ({ pid }) => `crux logs ${pid} 显示它做过什么`],
  running: [({ pid }) => `PID ${pid} 正在运行`, ({ pid }) => `crux pause ${pid} 将其暂停`],
  paused: [
    ({ pid }) => `PID ${pid} 已暂停`,
    ({ pid }) => `crux cont ${pid} 恢复，crux attach ${pid} 查看，crux kill ${pid} 结束`,
  ],
  resting: [
    ({ pid }) => `PID ${pid} 正在休眠，等待下一条消息`,
    ({ pid }) => `crux -r ${pid} 继续，crux kill ${pid} 结束`,
  ],
  stopped: [({ pid }) => `PID ${pid} 已停止，等待恢复`, ({ pid }) => `crux resume ${pid} 将其恢复`],
  unread: [
    ({ pid }) => `守护进程启动时未能读取 PID ${pid}`,
    ({ pid }) => `crux fsck ${pid} 检查，crux cont ${pid} 恢复`,
  ],
  unsure: [({ pid }) => `不确定 PID ${pid} 是否已记录`, "crux daemon restart，然后由 crux ps 查看它是否存在"],
  no_job: [({ pid }) => `PID ${pid} 没有这个作业`, ({ pid }) => `crux jobs ${pid} 列出作业`],
  no_limit: [({ pid }) => `PID ${pid} 没有这项上限`, "crux budget set 可以设置"],
  no_group: [undefined, "crux groups 列出组"],
  no_agent: [undefined, "去掉 --agent 即使用默认 Agent"],
  no_project: [undefined, "crux compose up 启动项目"],
  project_ended: ["项目已结束", "crux compose up 再次启动"],
  project_down: ["项目未在运行", "crux compose up 启动项目，crux compose logs 显示它写下的内容"],
  no_grant: [undefined, "crux grants 列出许可；休眠会话的许可：crux grants <pid>"],
  not_mounted: [undefined, "crux mcp list 显示已挂载的内容"],
  path_taken: [undefined, "crux umount 可以移除；或换一个名称"],
  grants_full: ["不能再添加许可", "crux grants 列出许可；crux grants rm <id> 撤回一项"],
  files_forgotten: [
    "该步骤早于所保存的最早的文件内容",
    "crux steps 显示较晚的步骤；不带 --files 则没有此限制",
  ],
  model_unfit: [undefined, "用 --model 指定另一个模型，或用 --permission-mode 指定另一种模式"],
  mode_at_start: ["该模式只能在启动进程时选择", "另行启动：crux --dangerously-skip-permissions"],
  journal_lost: ["守护进程已无法写入日志", "crux daemon restart"],
  stopping: ["守护进程正在停止，不接受请求", "crux ps 会再次启动它，并显示恢复了什么"],
  no_tree_path: [undefined, "crux ls / 显示目录树"],
  tree_file: [({ path }) => `${path} 是文件，不是文件夹`, undefined],
  host_file: [({ path }) => `${path} 是主机上的文件`, undefined],
  bad_recording: [undefined, "crux journal <pid> --json --with-prefix > file 可以写出一份"],
  trust_full: ["不能再信任更多文件夹", "crux trust list 列出文件夹，crux trust remove <dir> 移除一个"],
  journal_in_use: ["守护进程正在使用日志，无法修复", "crux daemon stop；不带 --repair 时可以询问守护进程"],
  damaged: [
    ({ pid }) => (pid === null ? "有记录已损坏" : `PID ${pid} 的记录已损坏`),
    ({ pid }) => `crux fsck${pid === null ? "" : ` ${pid}`} 显示损坏之处`,
  ],
  disk: [({ path }) => `磁盘拒绝写入：${path}`, ({ path }) => `请检查 ${path} 的剩余空间和写入权限`],
  needs_approval: [
    undefined,
    ({ remedy }) => (remedy === null ? "在终端中运行 crux，即可逐次回答" : `如要允许：${flagsOf(remedy)}`),
  ],
  above_ceiling: [
    ({ pid, mode }) => `PID ${pid} 不能自行进入${MODES[mode]}模式`,
    ({ pid, mode }) => `您可以执行：crux mode ${pid} ${mode}`,
  ],
  limit_reached: [undefined, ({ pid, unit, need }) => `如要提高：crux budget set ${pid} --${unit} ${need}`],
  untrusted: [
    ({ folder }) => `文件夹未受信任：${folder}`,
    ({ folder }) => `查看并信任：crux trust ${shellWord(folder)}`,
  ],
  no_setting: [
    undefined,
    ({ near }) => (near === null ? "crux config list --all 列出全部" : `是否指 ${near}？`),
  ],
  own_setting: [
    ({ key }) => `文件夹不能设置 ${key}`,
    ({ key }) => `crux config set ${key} … 写入您自己的设置`,
  ],
  no_model: [({ model }) => `没有已设置的驱动提供模型 ${model}`, undefined],
  cut_off: [({ method }) => `连接断开，${method} 没有得到回答，但可能已经生效`, undefined],
  daemon_silent: ["守护进程没有响应", "crux daemon restart --force"],
  daemon_late: [undefined, "crux daemon start 再试一次"],
  safe_mode: ["守护进程处于安全模式，不恢复任何进程", "crux daemon start --normal 离开安全模式"],
  other_version: [undefined, "crux daemon restart"],
};

function worded(fact: Fact, at: 0 | 1): string | undefined {
  // a newer daemon may have facts of its own
  const words = (FACTS[fact.kind] as Row<Fact> | undefined)?.[at];
  return typeof words === "function" ? words(fact) : words;
}

/** What happened, behind its code. */
export function zhSaid(wire: WireError): string {
  const { code, fact, message, device } = wire;
  const said = fact && worded(fact, 0);
  if (said !== undefined) return `[${code}] ${said}`;
  const word = CODES[code] as string | undefined;
  if (word === undefined) return printedWire(wire);
  return `[${code}] ${word}：${device === undefined ? message : `${device} (${message})`}`;
}

/** What to type next. */
export function zhNext(fact: Fact): string | undefined {
  return worded(fact, 1) ?? nextStep(fact);
}
