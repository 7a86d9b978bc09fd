/**
 * The variables of the environment that Crux reads: what `docs/environment.md` says of each. Only the generator and the
 * tests load it; a test compares the names with what the source reads.
 */

interface VariableDoc {
  readonly means: string;
  /** Absent: nothing happens without it. */
  readonly otherwise?: string;
  readonly example?: string;
}

/**
 * Grouped by whose environment counts. `places`: those of the client and of the daemon, which the first client starts
 * with its own. `run`: that of the client, sent with each run. `given`: variables that Crux itself sets.
 */
type Group = "places" | "models" | "run" | "daemon" | "terminal" | "given";

const USE = (driver: string): string =>
  `\`1\`: the driver \`${driver}\` answers where nothing above it in this order says otherwise: \`--model\`, the agent file, ` +
  "`CRUX_PROVIDER`, the settings. Of several the first counts, in the order of this page.";

export const VARIABLES: Readonly<Record<Group, Readonly<Record<string, VariableDoc>>>> = {
  places: {
    XDG_RUNTIME_DIR: {
      means: "Folder of the socket, the pid file and the cookie: `$XDG_RUNTIME_DIR/crux`.",
      otherwise: "`/tmp/crux-<uid>`",
      example: "/run/user/1000",
    },
    XDG_STATE_HOME: {
      means: "Folder of the journal, outputs, scratch folders and `daemon.log`: `$XDG_STATE_HOME/crux`.",
      otherwise: "`~/.local/state`",
    },
    XDG_CONFIG_HOME: {
      means: "Folder of your settings, agents and skills: `$XDG_CONFIG_HOME/crux`.",
      otherwise: "`~/.config`",
    },
    DBUS_SESSION_BUS_ADDRESS: {
      means: "Where the keychain of the desktop is reached, for keys of `crux auth login`.",
      otherwise: "`bus` in `$XDG_RUNTIME_DIR`",
    },
    CRUX_SOCKET: {
      means: "Path of the daemon's socket, for the client and for the daemon it starts.",
      otherwise: "`crux.sock` in the runtime folder",
    },
    XDG_CACHE_HOME: {
      means:
        "Folder of compiled code, which makes starts and the first turn of a daemon faster: `$XDG_CACHE_HOME/crux`.",
      otherwise: "`~/.cache`",
    },
    HOME: { means: "Your home folder: `~` in paths and settings.", otherwise: "the user database" },
    PATH: { means: "Where programs are looked for: commands of agents, `claude`, `rg`, `git`, `bwrap`." },
    TMPDIR: { means: "A folder for temporary files; nothing below it can be trusted permanently." },
  },
  models: {
    ANTHROPIC_API_KEY: { means: "Key of the driver `anthropic`; setting it makes the driver ready." },
    ANTHROPIC_AUTH_TOKEN: { means: "A token for `anthropic` instead of the key." },
    ANTHROPIC_BASE_URL: {
      means: "Server of the driver `anthropic`.",
      otherwise: "`https://api.anthropic.com`",
    },
    OPENAI_API_KEY: { means: "Key of the driver `openai`; setting it makes the driver ready." },
    OPENAI_BASE_URL: {
      means: "Server of the driver `openai`: any that speaks Chat Completions or Responses.",
      otherwise: "`https://api.openai.com/v1`",
      example: "http://localhost:8000/v1",
    },
    OPENAI_MODEL: { means: "Model of the driver `openai` when no other is named." },
    CRUX_OPENAI_API: {
      means: "Interface of the driver `openai`: `responses` or `chat`.",
      otherwise: "`responses` at `api.openai.com`, `chat` elsewhere",
    },
    GEMINI_API_KEY: { means: "Key of the driver `gemini`; setting it makes the driver ready." },
    GOOGLE_API_KEY: {
      means: "A key for `gemini` where the other is not set and a Gemini model is asked for.",
    },
    GEMINI_BASE_URL: {
      means: "Server of the driver `gemini`.",
      otherwise: "`https://generativelanguage.googleapis.com/v1beta`",
    },
    GEMINI_MODEL: { means: "Model of the driver `gemini` when no other is named." },
    GEMINI_DEFAULT_OPUS_MODEL: { means: "Model of the driver `gemini` for the size `large` (`opus`)." },
    GEMINI_DEFAULT_SONNET_MODEL: { means: "Model of the driver `gemini` for the size `mid` (`sonnet`)." },
    XAI_API_KEY: { means: "Key of the driver `xai`; setting it makes the driver ready." },
    XAI_BASE_URL: { means: "Server of the driver `xai`.", otherwise: "`https://api.x.ai/v1`" },
    AWS_BEARER_TOKEN_BEDROCK: {
      means: "API key of the driver `bedrock`; setting it makes the driver ready.",
    },
    AWS_ACCESS_KEY_ID: {
      means:
        "With `AWS_SECRET_ACCESS_KEY`: keys of the driver `bedrock`, for a model that is asked for there.",
    },
    AWS_SECRET_ACCESS_KEY: { means: "See `AWS_ACCESS_KEY_ID`." },
    AWS_SESSION_TOKEN: { means: "Session of `AWS_ACCESS_KEY_ID`, if its keys are temporary." },
    AWS_PROFILE: {
      means: "Profile of the driver `bedrock`, in AWS's own files, where the environment has no keys.",
      otherwise: "`default`",
    },
    AWS_SHARED_CREDENTIALS_FILE: {
      means: "File with the keys of AWS's profiles.",
      otherwise: "`~/.aws/credentials`",
    },
    AWS_CONFIG_FILE: { means: "File with the settings of AWS's profiles.", otherwise: "`~/.aws/config`" },
    AWS_REGION: { means: "Region of the driver `bedrock`.", otherwise: "`AWS_DEFAULT_REGION`" },
    AWS_DEFAULT_REGION: { means: "See `AWS_REGION`." },
    ANTHROPIC_BEDROCK_BASE_URL: {
      means: "Server of the driver `bedrock`.",
      otherwise: "that of the region",
    },
    ANTHROPIC_VERTEX_PROJECT_ID: {
      means: "Google Cloud project of the driver `vertex`; setting it makes the driver ready.",
    },
    CLOUD_ML_REGION: { means: "Region of the driver `vertex`.", otherwise: "`global`" },
    VERTEX_BASE_URL: { means: "Server of the driver `vertex`.", otherwise: "that of the region" },
    GOOGLE_APPLICATION_CREDENTIALS: {
      means: "File with the credentials of the driver `vertex`: a service account's, or the user's.",
      otherwise: "`~/.config/gcloud/application_default_credentials.json`",
    },
    VLLM_BASE_URL: {
      means: "Server of the driver `vllm`; setting it makes the driver ready.",
      example: "http://127.0.0.1:8000/v1",
    },
    VLLM_API_KEY: { means: "Key of the driver `vllm`, if its server was started with one." },
    VLLM_MODEL: { means: "Model of the driver `vllm` when no other is named." },
    OLLAMA_HOST: { means: "Server of the driver `ollama`.", otherwise: "`http://127.0.0.1:11434`" },
    OLLAMA_MODEL: { means: "Model of the driver `ollama` when no other is named." },
    CRUX_MODEL: {
      means: "The model to use. `--model` and the agent file override it; it overrides the setting `model`.",
      example: "openai/model-large",
    },
    CRUX_PROVIDER: { means: "The driver to use, like the setting `modelType`, which it overrides." },
    CRUX_USE_BEDROCK: { means: USE("bedrock") },
    CRUX_USE_VERTEX: { means: USE("vertex") },
    CRUX_USE_OPENAI: { means: USE("openai") },
    CRUX_USE_GEMINI: { means: USE("gemini") },
    CRUX_USE_GROK: { means: USE("xai") },
    CRUX_SCENARIO: {
      means: "A scenario file: the driver `script` plays it in place of a model.",
      example: "/home/ana/scenario.json",
    },
    CRUX_DISABLE_THINKING: { means: "Not empty: models are not asked to think before they answer." },
    CRUX_DISABLE_EXPERIMENTAL_BETAS: {
      means: "Not empty: requests to `anthropic` name no betas, so older models do not think between calls.",
    },
    CRUX_PROMPT_CACHE_1H: {
      means: "`1`: servers keep a cached prompt for an hour, like the setting `cacheTtl`.",
    },
    CRUX_DISABLE_PROMPT_CACHING: { means: "`1`: servers are not told to cache prompts." },
    CRUX_DISABLE_PROMPT_CACHING_HAIKU: { means: "`1`: the same for models called haiku." },
    CRUX_DISABLE_PROMPT_CACHING_SONNET: { means: "`1`: the same for models called sonnet." },
    CRUX_DISABLE_PROMPT_CACHING_OPUS: { means: "`1`: the same for models called opus." },
    CRUX_STREAM_IDLE_TIMEOUT_MS: {
      means: "How long a model's stream may be silent, in milliseconds.",
      otherwise:
        "90000; `openai` and `gemini` 300000, `xai` 900000; a local model may take ten minutes to begin",
    },
  },
  run: {
    CRUX_MAX_CONTEXT_TOKENS: {
      means: "The context window of the model in tokens, 8192 or more (docs/context.md).",
      otherwise: "what is known of the model",
      example: "32768",
    },
    CRUX_MAX_OUTPUT_TOKENS: {
      means:
        "The longest reply that a model is asked for, in tokens, 1024 or more; the limit of the model holds all the same.",
      otherwise: "8000, and 64000 once after a reply that was cut off",
      example: "32000",
    },
    CRUX_DISABLE_AUTO_COMPACT: {
      means: "`1`: a conversation is shortened only after the model has refused it as too long.",
    },
    CRUX_DISABLE_COMPACT: {
      means: "`1`: a conversation is never shortened; one that is too long ends the run.",
    },
    CRUX_ENABLE_TASKS: {
      means: "`1`: in runs, too, the task tools take the place of `todo`, as in sessions.",
    },
    CRUX_TASK_LIST_ID: { means: "The task list to use.", otherwise: "that of the group or session" },
    CRUX_TEAM_NAME: { means: "The task list of a process that is in no group." },
    CRUX_SUBAGENT_MODEL: {
      means: "The model of every agent that an agent starts.",
      otherwise: "that of the call, of the agent file, or of the agent that starts it",
    },
    CRUX_COORDINATOR_MODE: {
      means: "`1`: a run or session that names no agent begins with the coordinator (`many-agents.md`).",
    },
    CRUX_SIMPLE: { means: "`1`: workers have the tools `bash`, `view` and `edit`, and no other." },
    CRUX_DISABLE_BUILTIN_AGENTS: { means: "`1`: the shipped agents cannot be chosen." },
    CRUX_DISABLE_BACKGROUND_TASKS: { means: "`1`: agents wait for all agents that they start." },
    CRUX_DISABLE_BACKGROUND: { means: "`1`: agents cannot run commands in the background." },
    CRUX_DISABLE_AUTO_MEMORY: { means: "Not empty: agents have no memory (`memory.md`)." },
    CRUX_MEMORY_PATH_OVERRIDE: {
      means: "The folder with the memory of every project, read when the daemon starts (`memory.md`).",
      otherwise: "a folder for each project",
    },
    CRUX_DISABLE_CLAUDE_MDS: { means: "Not empty: agents read no instruction files." },
    CRUX_WEB_SEARCH_ADAPTER: {
      means: "The search engine of `web_search`: `brave` or `bing`.",
      otherwise: "`brave` with `BRAVE_API_KEY`, else `bing`",
    },
    BRAVE_API_KEY: { means: "Key of the search engine `brave`." },
  },
  daemon: {
    HTTPS_PROXY: {
      means: "Proxy for requests to model servers over HTTPS; `https_proxy` comes first.",
      example: "http://proxy.example:3128",
    },
    HTTP_PROXY: { means: "Proxy for requests to model servers over HTTP; `http_proxy` comes first." },
    NO_PROXY: {
      means:
        "Servers that are asked without a proxy, with commas between; this machine always is. `no_proxy` comes first.",
    },
    NODE_USE_ENV_PROXY: {
      means: "`0`: no proxy is used. `1`: this machine's servers are asked through it too.",
    },
    CRUX_TOOL_SEARCH: {
      means:
        "Which tools a request to the model carries: `true` few, the others are found with `tool_search`; `false` all; `auto` or `auto:N` all unless they take more than N percent of the context window.",
      otherwise: "`true`; N is 10",
    },
    CRUX_TOOL_SEARCH_WEIGHT_KEYWORD: { means: "Weight of whole words in `tool_search`." },
    CRUX_TOOL_SEARCH_WEIGHT_TFIDF: { means: "Weight of rare words in `tool_search`." },
    CRUX_TOOL_SEARCH_MIN_SCORE: { means: "Lowest score that `tool_search` shows." },
    CRUX_DISABLE_EXPERIMENTAL: { means: "`1`: as `CRUX_TOOL_SEARCH=false`." },
    CRUX_MAX_RETRIES: { means: "How often a failed model call is tried again, 1 or more." },
    CRUX_MAX_TOOL_CONCURRENCY: {
      means: "How many calls of one reply run at once, if they may overlap.",
      otherwise: "10",
    },
    CRUX_AUTO_BACKGROUND_MS: {
      means: "A command that runs longer than this continues in the background, in milliseconds.",
      otherwise: "a minute",
    },
    CRUX_BUILTIN_RIPGREP: {
      means: "`false`: `grep` and `glob` use the `rg` of the `PATH` instead of the bundled one.",
    },
    CRUX_SAFE_MODE_AFTER: {
      means:
        "After so many early deaths in a row the daemon starts in safe mode and restores nothing; 0: never.",
      otherwise: "3",
    },
    MALLOC_ARENA_MAX: {
      means:
        "Heaps of the C library in the daemon: one is small. The daemon's commands do not get it from there.",
      otherwise: "1",
    },
    MALLOC_MMAP_THRESHOLD_: {
      means:
        "Bytes from which the C library of the daemon gives a piece of memory pages of its own, returned when it is free. The daemon's commands do not get it from there.",
      otherwise: "69632",
    },
    NODE_COMPILE_CACHE: {
      means: "Where Node keeps compiled code; the daemon hands it to the thread that writes the journal.",
    },
    IS_SANDBOX: { means: "`1`: this is a container, so root may use bypass mode." },
    container: { means: "Set by container programs; not empty means the same as `IS_SANDBOX=1`." },
  },
  terminal: {
    CRUX_ACP_PERMISSION_MODE: {
      means: "For `crux acp-link`: the mode of sessions whose client names none.",
    },
    CRUX_LANG: {
      means: "Language of the screens: `en` or `zh`.",
      otherwise: "`LC_ALL`, `LC_MESSAGES`, `LANG`",
    },
    LC_ALL: { means: "Language, after `CRUX_LANG`." },
    LC_MESSAGES: { means: "Language, after `LC_ALL`." },
    LANG: { means: "Language, after `LC_MESSAGES`." },
    NO_COLOR: { means: "Not empty: no colours." },
    TERM: {
      means: "`dumb`: `crux top` prints one table instead of a screen, and a conversation is lines.",
    },
    TERM_PROGRAM: {
      means:
        "`iTerm.app`, `WezTerm` or `ghostty`: notices are shown by the terminal (OSC 9), not as its bell.",
    },
    TMUX: { means: "Not empty: notices are the bell, which tmux passes on." },
    STY: { means: "Not empty: the same, for GNU screen." },
    COLORTERM: { means: "`truecolor` or `24bit`: the terminal has all colours." },
    CRUX_ACCESSIBLE: { means: "`1`: a conversation is lines, without boxes and redrawing." },
    CRUX_REDUCE_MOTION: { means: "`1`: nothing on the screen moves while it waits." },
    VISUAL: { means: "The editor that opens the arguments of a call when you change them." },
    EDITOR: { means: "The editor, where `VISUAL` is not set." },
    SHELL: {
      means:
        "The shell that runs a line after `!` in the terminal; absent, or not one of those that Crux knows: `/bin/sh`.",
    },
    SHLVL: { means: "Passed to commands; 1 where it is missing, so that bash reads no start-up files." },
  },
  given: {
    CRUX_PID: { means: "Pid of the process that the command belongs to." },
    CRUX_SESSION_ID: { means: "UUID of that process." },
    CRUX_SKILL_DIR: {
      means: "Only in the text of a skill, as `${CRUX_SKILL_DIR}`: the folder of the skill.",
    },
    CRUX_IPC_SOCKET: {
      means: "Socket of that process: `crux` in a command uses it, with the rights of the process.",
    },
    CRUX_IPC_TOKEN: {
      means: "Capability token of a program that `process.spawn` started: shown with `kernel.hello`.",
    },
    KAIRO_IPC_SOCKET: { means: "Another name of `CRUX_IPC_SOCKET`." },
    CRUX_SCRATCH: { means: "Folder of the process for files that nobody needs later." },
    CRUX_REPLICA: { means: "In a compose project: number of the replica, from 1." },
    CRUX_OWNER: { means: "Marks programs that Crux started, so that it finds and ends all of them." },
    CRUX_EXEC_ID: { means: "Marks one command, for the same reason." },
    CRUX_PROJECT_DIR: {
      means: "For the servers of an agent file and their entries: the folder of the project.",
    },
  },
};
