/** The sentences of a question of the gate, in Chinese. */

import type { PermissionMode } from "../../../abi/process.ts";
import type { RuleSource } from "../../../abi/rules.ts";
import { firstOf, type PlainSentence, type Said, type Sentence } from "../../../abi/sentence.ts";
import { MODES } from "./zh-daemon.ts";

const PLAIN: Readonly<Record<PlainSentence, string>> = {
  starts_nothing: "不启动任何程序",
  changes_nothing: "不改变任何内容的命令",
  own_folder: "它自己的文件夹",
  own_memory: "它的记忆",
  skill_file: "Skill 的文件",
  read_inside: "在工作目录内读取",
  whole_command: "见完整命令",
  removes_files: "rm 会删除文件，删除的内容不会保留",
  replaces_file: "替换整个文件",
  replaces_all: "替换每一处",
  wants_out: "它要求在沙箱之外、以整个账户的权限运行",
  unconfined: "无：命令以您自己的权限运行",
};

const SOURCES: Readonly<Record<RuleSource, string>> = {
  userSettings: "用户设置",
  projectSettings: "项目设置",
  localSettings: "本地设置",
  flagSettings: "--settings 给出的设置",
  policySettings: "策略设置",
  cliArg: "命令行",
  command: "正在运行的 Skill",
  session: "本会话",
  shipped: "内置默认规则",
};

const ACCESS = { read: "读取", write: "写入" } as const;

export function zhSentence(said: Said): string {
  if (typeof said === "string") return said;
  switch (said.kind) {
    case "plain":
      return PLAIN[said.id];
    case "mode":
      return inMode(said.mode);
    case "rule":
      return byRule(said);
    case "no_rule":
      return `${said.what}：没有规则允许（${inMode(said.mode)}）`;
    case "access":
      return `${accessTo(said)}${said.isOutside ? "，位于工作目录之外" : ""}（${inMode(said.mode)}）`;
    case "command_by_rule":
      return `${said.command}：${byRule(said)}`;
    case "path_by_rule":
      return `${byRule(said)}：${accessTo(said)}`;
    case "protected":
      return `${accessTo(said)}：受保护（${said.why}）；任何模式或规则都不能代替您回答`;
    case "removes":
      return `${said.command}：警告：rm 会永久删除`;
    case "unread":
      return `${said.text}：无法确定地读懂该命令（${said.why}）`;
    case "has_read":
      return `${said.what}；该进程已读取 ${said.origin}`;
    case "no_sandbox":
      return `警告：沙箱不可用（${said.why}），命令将以整个账户的权限运行`;
    case "replaces_some":
      return `其中 ${said.count} 项替换每一处`;
    case "shown_in_part":
      return `${said.name} 只显示一部分：共 ${said.characters} 个字符`;
    case "sandbox":
      return confined(said);
  }
}

const inMode = (mode: PermissionMode): string => `${MODES[mode]}模式`;

function byRule({ rule, source }: { readonly rule: string; readonly source: RuleSource }): string {
  return `${SOURCES[source]}中的规则 ${rule}`;
}

function accessTo({ access, path }: { readonly access: keyof typeof ACCESS; readonly path: string }): string {
  return `${ACCESS[access]} ${path}`;
}

function confined({ write, network }: Extract<Sentence, { kind: "sandbox" }>): string {
  const places = write.map((place) => place ?? "它的临时文件夹");
  const files = places.length === 0 ? "不写入文件" : `可写 ${first(places)}`;
  const isOff = network === "off" || network.length === 0;
  const reach = isOff ? "关闭" : network === "host" ? "与主机相同" : first(network);
  return `${files}；网络：${reach}`;
}

function first(names: readonly string[]): string {
  return firstOf(names, { comma: "、", more: (count) => `，及另外 ${count} 项` });
}
