/** What the interactive terminal says, in Chinese. Names of commands, keys, states of processes in tables, and error codes stay. */
import type { CountUnit } from "../../../abi/call-note.ts";
import type { WireBrought } from "../../../abi/methods/trust.ts";
import { laneName, modelWords } from "../../../lib/text/model-words.ts";
import { wordsIn } from "../text/language.ts";
import type { Phrases } from "./en.ts";
import { MODES, zhNext, zhSaid } from "./zh-daemon.ts";
import { zhHelp } from "./zh-help.ts";
import { zhSentence } from "./zh-sentence.ts";

const FAILURES: Readonly<Record<string, string>> = {
  rate_limit: "请求受到限速",
  overloaded: "服务过载",
  server: "服务器错误",
  timeout: "响应超时",
  connection: "连接失败",
  stream_stalled: "回复停滞",
  stream_malformed: "回复损坏",
  auth: "凭据被拒绝",
  invalid: "请求被拒绝",
  model_not_found: "模型不存在",
};

const SHORTENED = {
  micro: "已清除较早的工具结果",
  full: "已将较早的消息写成摘要",
  notes: "已用会话笔记代替较早的消息",
  partial: "已将一部分消息写成摘要",
  collapse: "已折叠一些较早的步骤",
  snip: "已略去一些消息",
  drop: "已略去最早的消息",
  clear: "已略去全部消息",
} as const;

const UNITS: Readonly<Record<CountUnit, string>> = {
  line: "行",
  match: "处匹配",
  file: "个文件",
  changed: "处更改",
  entry: "个条目",
  page: "页",
  cell: "个单元格",
  result: "条结果",
  task: "项任务",
  tool: "个工具",
};

const KINDS: Readonly<Record<WireBrought["kind"], string>> = {
  settings: "设置",
  server: "MCP 服务器",
  agent: "Agent",
  skill: "Skill",
  command: "命令",
  hook: "钩子",
  instructions: "指令文件",
  environment: "环境变量",
  compose: "编排文件",
};

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)}s`;
const inK = (tokens: number): string => (tokens < 1_000 ? `${tokens}` : `${Math.round(tokens / 1_000)}K`);

export const zh: Phrases = {
  language: "zh",

  modeLine: {
    modes: MODES,
    vim: { insert: "插入", normal: "普通", visual: "可视", "visual line": "可视行" },
    connecting: "正在连接 …",
    searches: (words) => `搜索：${words} · ctrl+r 更早的`,
    context: (percent) => `上下文 ${percent}%`,
    toEditor: "停顿之前，按键仍进入编辑器",
    shell: "由您的 shell 执行，模型会读取其输出",
    hint: "shift+tab 切换模式 · /help",
    leaving: "再按一次 ctrl+c 离开，会话会保留",
    backAgain: "再按一次 esc：回到某一步",
    clears: "ctrl+c 清空",
    untrustedStatus: "已跳过状态栏 · /trust",
  },

  live: {
    lost: "守护进程已断开，正在重新连接 …",
    paused: "已暂停",
    tokens: (count) => `${count} token`,
    toInterrupt: "esc 中断",
    runs: (tool) => `正在执行 ${tool}`,
    runsMany: (count) => `正在执行 ${count} 个调用`,
    answers: "正在回答",
    thinks: "正在思考",
    moreWait: (count) => `另有 ${count} 条等待`,
    rowsAbove: (count) => `上方还有 ${count} 行 · PgUp Home`,
    rowsBelow: (count) => `下方还有 ${count} 行 · PgDn End`,
    questionWaits: "有问题等待回答：esc",
    questionsWait: (count) => `还有 ${count} 个问题`,
    reading: "正在读取 …",
    forkAgain: "再按 f：从这里开始新会话",
    more: (count) => `另有 ${count} 项`,
    linesMore: (count) => `… 另有 ${count} 行`,
  },

  panel: {
    hints: {
      manage: "shift+↓ 管理后台 Agent",
      select: "↑/↓ 选择 · Enter 查看",
      stop: "shift+↓ 管理 · x 停止",
      clear: "shift+↓ 管理 · x 清除",
    },
    waits: (count) => `${count} 个等待您回答`,
    tokens: "token",
    main: "主会话",
    atWork: (count) => `${count} 个 Agent 在工作`,
    over: (count) => `${count} 个已结束`,
    list: "↓ 列出",
    background: "后台",
    asksYou: "等待您回答",
    stop: "x 停止",
    clear: "x 清除",
    status: { queued: "排队中", running: "运行中", completed: "已完成", failed: "失败", killed: "已终止" },
    activity: {
      thinking: "思考中",
      tool: "调用工具",
      waiting: "等待中",
      idle: "空闲",
      blocked: "等待回答",
      paused: "已暂停",
    },
  },

  entry: {
    hidden: (count) => `… 另有 ${count} 行，按 ctrl+o 查看 …`,
    running: "正在运行 · esc 结束",
    asked: "对话之外的提问 · esc 结束",
    exit: (exit) => `退出：${exit}`,
    refused: "已拒绝",
    refusedFor: (why) => `已拒绝：${why}`,
    interrupted: "已中断",
    brokeOff: "这个回答中断了，将重新开始；模型看不到上面的内容",
    interruptedReply: "已中断；模型看不到它刚才说了一半的内容",
    process: (pid) => `进程 ${pid}`,
    otherClient: "另一个客户端",
    outcome: { completed: "已完成", interrupted: "已中断", failed: "失败", limit: "已达上限" },
  },

  call: {
    refused: "已拒绝",
    failed: "失败",
    count: (count, unit) => `${count} ${UNITS[unit]}`,
    done: (count, of) => `已完成 ${count}/${of}`,
    exit: (code) => `退出码 ${code}`,
    endedBy: (signal) => `被 ${signal} 结束`,
    runsOn: (job) => `作为 ${job} 继续运行`,
  },

  session: {
    retry: ({ attempt, maxRetries, delayMs, errorKind, status, message }) => {
      const more = message ?? status;
      const what = `${FAILURES[errorKind] ?? errorKind}${more === undefined ? "" : `（${more}）`}`;
      if (delayMs === 0)
        return `模型：${what}，${errorKind === "auth" ? "已用新的凭据" : "已去掉被拒绝的部分"}重新发送`;
      return `模型：${what}，${seconds(delayMs)} 后第 ${attempt}/${maxRetries} 次重试`;
    },
    slot: ({ class: name, position, lane }) => {
      const why =
        lane.closedForMs === undefined
          ? `已占用 ${lane.used}/${lane.slots}`
          : `服务器在 ${seconds(lane.closedForMs)} 内拒绝更多请求`;
      return `模型：等待 ${laneName(lane.lane)} 的空位，排在第 ${position}（${name}）；${why}`;
    },
    change: ({ from, to, cause }) =>
      cause === "user"
        ? `模型：从现在起由 ${modelWords(to)} 代替 ${modelWords(from)} 回答`
        : `模型：${modelWords(from)} ${FAILURES[cause] ?? cause}；本次运行余下部分由 ${modelWords(to)} 回答`,
    shortened: ({ layer, before, after }) =>
      `上下文：${SHORTENED[layer]}，之前约 ${inK(before)} token，现在 ${inK(after)}`,
    paused: (pid) => `已暂停；crux cont ${pid} 可恢复`,
    resumed: "已恢复",
    ended: (summary, time, tokens) => `${summary} · ${time} · ${tokens} token`,
    states: {
      running: "运行中",
      waiting: "等待输入",
      blocked: "等待回答",
      paused: "已暂停",
      resting: "休眠",
      ended: "已结束",
    },
    messages: (count) => `${count} 条消息`,
    tokens: (count) => `${count} token`,
    left: (pid, isRunning) => `PID ${pid} ${isRunning ? "继续运行" : "等待中"}；crux -r ${pid}`,
    sandboxOff: (why) => `沙箱：关闭（${why}）`,
    folderGone: (cwd) => `会话的文件夹已不存在：${cwd}`,
    statusLine: (why) => `状态栏：${why}`,
    questionWaits: "有问题等待您回答",
    answered: "已有回答",
    withMore: (words, count) => `${words}（另有 ${count} 条）`,
  },

  act: {
    renameNeeds: "/rename 需要名称",
    named: (title) => `已命名为 ${title}`,
    emptied: (before, after) =>
      `模型的视图已清空：之前 ${before} token，现在 ${after}；crux context undo 可撤销`,
    summarising: "模型将在下一步写摘要 …",
    shortened: (before, after) => `之前 ${before} token，现在 ${after}；crux context undo 可撤销`,
    noSkill: (name, others) =>
      `没有名为 /${name} 的 Skill 或命令，未发送任何内容。${others === "" ? "" : `相近的有：${others}。`}`,
    notHere: (name, instead) => `/${name} 不存在，未发送任何内容。${instead}`,
    folders: (paths) => `在 ${paths} 中工作`,
    sandbox: (kind) => `命令在沙箱中运行${kind === "" ? "" : `（${kind}）`}`,
    noFolder: (path) => `没有此文件夹：${path}`,
    reloaded: (skills) => `已重新读取 ${skills} 个 Skill、设置和按键`,
    mode: (mode, ceiling) => `当前模式：${mode}（最高可申请 ${ceiling}）`,
    noneWaits: "您没有等待中的消息",
    wasRead: "消息已被读取，无法收回",
    tooLong: (count, most) => `消息有 ${count} 个字符，最多 ${most} 个：请保存为文件，再用 @ 引用它`,
    noPicture: "剪贴板中没有图片",
    noClipboard: (readers) => `无法读取剪贴板：需要 ${readers} 之一；也可以粘贴图片的路径`,
    noEditor: "请先设置 EDITOR 或 VISUAL",
    noAnswer: "没有这条回答",
    copied: (count) => `已复制 ${count} 个字符`,
    themes: (names) => `主题：${names}`,
    noTheme: (name, names) => `没有主题 ${name}；可用主题：${names}`,
    languages: (now, names) => `语言：${now}；可用语言：${names}`,
    noLanguage: (name, names) => `没有语言 ${name}；可用语言：${names}`,
    efforts: (levels) => `/effort 可用的级别：${levels}`,
    effort: (level) => `思考程度：${level}，从下一次运行起`,
    noEffort: (model) => `${model || "这个模型"} 不支持思考程度`,
    ownKeys: "来自您的 keys.json：",
    asideNeeds: "/btw 需要一个问题",
    asideRuns: "另一个提问正在回答，按 esc 结束",
    lineRuns: "已有一行 shell 命令在运行，按 esc 结束",
    needsProcess: (name) => `/${name} 需要进程的 pid 或名称`,
    needsCommand: "! 之后需要一条由 shell 执行的命令",
    noMode: (name, names) => `没有模式 ${name}；可用模式：${names}`,
    nothingSaid: (pid) => `PID ${pid} 不是 Agent，没有对话内容`,
    noStepThere: "该处没有已完成的步骤，无法回退",
    sameSession: "当前已是该会话",
    noSession: "还没有会话",
    beginOne: "crux chat 可新建会话",
    changedSince: (files) => `此后已被他人修改，未作任何改动：${files}`,
  },

  view: {
    hits: (count, query) => `${count} 行含有“${query}”`,
    transcriptKeys: "q 离开 · / 搜索 · y 复制 · f 分叉 · r 回退 · g G { }",
    filter: "输入文字以筛选",
    sessionsOf: (cwd) => `${cwd} 的会话`,
    allSessions: "所有文件夹的会话",
    sessionKeys: "↑ ↓ 选择 · Enter 恢复 · Tab 所有文件夹 · Esc 离开",
    allSessionKeys: "↑ ↓ 选择 · Enter 恢复 · Tab 当前文件夹 · Esc 离开",
    noSessionFits: "没有会话包含全部这些词",
    branch: (name) => `分支 ${name}`,
    rewind: "回到某一步",
    rewindBefore: "回到某条消息之前",
    rewindKeys: "↑ ↓ 选择 · Enter 继续 · Esc 离开",
    promptKeys: "↑ ↓ 选择 · Enter 继续 · Tab 所有步骤 · Esc 离开",
    stepKeys: "↑ ↓ 选择 · Enter 继续 · Tab 我的消息 · Esc 离开",
    noPromptFits: "没有消息包含全部这些词",
    noStep: "没有已完成的步骤，无法回退",
    noStepFits: "没有符合的步骤",
    beforeFirst: "（第一次回复之前）",
    files: (count) => `${count} 个文件`,
    commands: (count) => `${count} 条命令`,
    extent: (step) => `回到第 ${step} 步时回退哪些内容？`,
    extentBefore: (prompt) => `回到“${prompt}”之前时回退哪些内容？`,
    extentKeys: "↑ ↓ 选择 · Enter 回退 · Esc 离开",
    extents: { talk: "仅对话", both: "对话和文件", files: "仅文件" },
    nothingFits: "没有符合的选项",
    filesStay: "文件保持不变。新会话从该处开始，当前会话保持原样。",
    refused: "其中一些文件此后已被他人修改：需要 crux rewind --force 才能回退文件。",
    noChange: "没有文件会改变。",
    notBegun: "尚无内容",
  },

  diff: {
    deeds: { removed: "新建", restored: "已修改", recreated: "已删除", kept: "已修改" },
    none: "没有文件被工具修改",
    commands: (names) => `未列出命令的改动（${names}）`,
  },

  rewind: {
    deeds: {
      restored: "已恢复",
      recreated: "已重建",
      removed: "已删除",
      unchanged: "未改变",
      kept: "已保留",
    },
    continues: (pid, place, fork) =>
      `PID ${pid} 自${place}起作为 PID ${fork} 继续，目前休眠；crux -r ${fork}`,
    ran: (count, names) => `此后执行过 ${count} 条命令，其改动不会恢复：${names}`,
    andMore: (count) => `另有 ${count} 条`,
    record: (seq) => `记录 ${seq} `,
    step: (step) => `第 ${step} 步`,
  },

  top: {
    filter: "（Enter 保留，Esc 显示全部）",
    signal: (pid) => `发送给 PID ${pid} 的信号：1 TERM  2 KILL  3 INT  4 PAUSE  5 RESUME（其他键：不发送）`,
    budget: (pid) => `PID ${pid} 及其全部下级的上限（美元）：`,
    budgetKeys: "（Enter 设置，Esc 取消）",
    by: (sort) => `按 ${sort} 排序`,
    tree: "树",
    keys: "s 排序  t 树  a 全部  / 查找  p 暂停  r 恢复  k 信号  b 预算  Enter 连接  q 退出",
    keysInside: "s 排序  t 树  a 全部  / 查找  p 暂停  r 恢复  k 信号  b 预算  Enter 打开  q 返回",
  },

  login: {
    lead:
      "尚未设置模型。请输入服务商的密钥：先用一次小调用测试，通过后只为您保存。\n" +
      "Esc：不使用模型，由内置解释器回答。",
    provider: (names) => `服务商（${names}）：`,
    baseUrl: "Base URL（留空：服务商默认地址）：",
    key: "密钥：",
    trying: (driver) => `${driver}：正在用一次小调用测试密钥 …`,
    stored: (driver, end, place, check) => `${driver}：密钥 …${end} 已保存到 ${place}（${check}）`,
    keychain: "钥匙串",
    answered: (tokens) => `测试调用已得到回答，${tokens} token`,
    noModel: "没有找到该服务商的模型",
    failed: (why) => `密钥未保存，测试调用失败：${why}`,
    failedHint: "请检查密钥和 --base-url；--no-check 可不经测试直接保存",
    unknown: (name) =>
      name === ""
        ? "请输入服务商的名称"
        : name.startsWith("/")
          ? "此问题之后才能使用命令：按 Esc 跳过"
          : `不是可以设置密钥的服务商：${name}`,
    providers: (names) => `服务商：${names}`,
    notUrl: "不是 Base URL：以 http:// 或 https:// 开头，后接服务器名",
    notKey: "这不是有效的密钥：至少 8 个字符，不含空格",
    environment: (key, baseUrl) => `此终端设置了 ${key} 或 ${baseUrl}，因此这里不使用已保存的密钥`,
    ways: [
      "  → crux auth login  （输入 Anthropic、OpenAI、Gemini 或 xAI 的密钥，测试后保存：docs/models.md）",
      "  → export ANTHROPIC_API_KEY=…  （Claude）",
      "  → export OPENAI_API_KEY=…  （OpenAI；加上 OPENAI_BASE_URL=… 也可用于 Ollama、vLLM、DeepSeek）",
      "  → npm install -g @anthropic-ai/claude-code，然后运行一次 claude 并登录",
    ],
  },

  /** An error: what happened, and what to type next. */
  faults: { hint: wordsIn("zh").hint, said: zhSaid, next: zhNext },

  ask: {
    said: zhSentence,
    allow: (what) => `允许 ${what}？`,
    question: (what) => `${what}？`,
    options: { yes: "[y] 是", no: "[n] 否", always: "[a] 始终允许" },
    amount: "[a] 其他数额",
    tell: "[t] 否，并说明原因",
    edit: "[e] 编辑",
    viewAll: "[v] 查看全部",
    editShows: "按 e 查看全部，可修改或不改",
    byEnter: (answer) => `${answer}（Enter）`,
    taken: { yes: "是", no: "否", always: "始终允许", tell: "说明原因", edit: "编辑", view: "查看" },
    planModes: {
      default: "同意，默认模式 [d]",
      accept_edits: "同意，自动接受编辑 [c]",
      auto: "同意，自动模式 [u]",
    },
    because: "  否，原因：",
    raise: "  增加多少（2usd、50000）：",
    alwaysAllow: (rule) => `  始终允许 ${rule}`,
    keepFor: (places) => `  保存到：${places}；[e] 编辑规则；Esc：返回 `,
    places: {
      session: "[s] 本会话",
      localSettings: "[l] 项目的本地设置",
      projectSettings: "[p] 项目设置",
      userSettings: "[u] 用户设置",
    },
    rule: "  规则（可以尽量收窄）：",
    elsewhere: (answer) => `（已在别处回答：${answer}）`,
    void: "（不再需要）",
    gone: "（已被回答，或不再需要）",
    by: (path) => `来自 ${path}`,
    why: (reason) => `原因：${reason}`,
    sandbox: (words) => `沙箱：${words}`,
    hasRead: (label) => `已读取 ${label}`,
    parts: { allow: "允许", ask: "询问", deny: "拒绝" },
    linesMore: (count) => `… 另有 ${count} 行 …`,
    charactersMore: (count) => `… 另有 ${count} 个字符 …`,
    arguments: "参数",
    notObject: "参数必须是一个 JSON 对象",
    notJson: (why) => `参数不是有效的 JSON：${why}`,
    ofMany: (at, count) => `（第 ${at} 个，共 ${count} 个）`,
    oneHint: (numbers) => `${numbers} 或 ↑ ↓，也可直接输入；Esc 关闭：`,
    manyHint: (numbers) => `${numbers}，或 ↑ ↓ 加空格标记；Enter 结束，也可直接输入；Esc 关闭：`,
    dismissed: "（已关闭）",
    none: "无",
  },

  trust: {
    brings: (root) => `${root} 带有您尚未信任的内容：`,
    bringsNothing: (root) => `${root} 未受信任。其中目前没有会生效的内容。`,
    meaning: "未经信任，Agent 仍可在此工作，但这些内容都不生效；其中的禁止规则始终有效。",
    asks: "是否按现状信任？",
    asksForNow: "是否按现状信任，直到那里的最后一个进程结束（h：一小时）？",
    yes: "是",
    hour: "一小时",
    no: "否",
    kinds: KINDS,
    changed: "已更改",
    holds: "仅作限制，已生效",
    counted: (count, kind) => `${count} 项${KINDS[kind]}`,
    andMore: (count, kinds) => `  另有 ${count} 项：${kinds}`,
    leftOut: (isChanged, what, root) =>
      `已略去${isChanged ? "信任之后更改过" : "未信任"}的内容：${what}。查看并信任：crux trust ${root}`,
  },

  help: zhHelp,

  lines: {
    help: [
      "  /exit            离开，会话保留（也可用 Ctrl-D，或按两次 Ctrl-C）",
      "  /stop            结束当前的运行（也可用 Ctrl-C）",
      "  /back            收回您最后一条未读的消息",
      "  /title <words>   为会话命名",
      "  /mode [<mode>]   无需询问即可做的事（也可用 Shift-Tab）；/plan 即 /mode plan",
      "  /model [<name>]  回答您下一条消息的模型",
      "  /context         模型看到的内容及各部分的用量",
      "  /compact [text]  用摘要代替之前的对话；crux context undo 可撤销",
      "  /btw <question>  对话之外的提问，不留在对话中；Ctrl-C 结束",
      "  /cost            花费及其去向；/todo：任务",
      "  /sessions        此文件夹的会话",
      "  /<skill> <args>  使用 Skill：crux skills 列出全部",
      "  !<command>       由您的 shell 执行；模型随您的下一条消息读到",
      "  //text           以 / 开头的消息",
      "  Alt-Enter        在消息中换行",
    ],
    leaving: "再按一次 Ctrl-C 或按 Ctrl-D 离开，会话保留",
    noSessions: "此文件夹中没有会话。",
    others: "/help 列出行模式的命令；其余见另一终端中的 crux help。",
    titleNeeds: "/title 需要名称",
    noWords: (name) => `/${name} 不带文字；//${name} 将其作为消息发送`,
    readToo: "一并读取：",
    client: (name) => `客户端 ${name}`,
    nextStep: "将在下一步读取",
    ahead: (count) => `等待中，前面还有 ${count} 条`,
    takenBack: "已收回",
    waiting: (count) => `${count} 条等待`,
    tokens: "token",
    elapsed: "用时",
  },
};
