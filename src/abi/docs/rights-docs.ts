import type { ASK_METHODS } from "../methods/ask.ts";
import type { CREDENTIAL_METHODS } from "../methods/credential.ts";
import type { DEFINITION_METHODS } from "../methods/definition.ts";
import type { FILE_METHODS } from "../methods/file.ts";
import type { MEMORY_METHODS } from "../methods/memory.ts";
import type { MODEL_METHODS } from "../methods/model.ts";
import type { RIGHTS_METHODS } from "../methods/rights.ts";
import type { SETTINGS_METHODS } from "../methods/settings.ts";
import type { TRUST_METHODS } from "../methods/trust.ts";
import { AT, HASH, type MethodDocs, NO_PROCESS, NO_PROCESS_ON_RECORD } from "./method-doc.ts";

export const ASK_DOCS: MethodDocs<keyof typeof ASK_METHODS> = {
  "ask.answer": {
    errors: {
      NOT_FOUND: "No question has this id.",
      INVALID: "The question does not offer this answer, rule or amount.",
      CONFLICT: "The question was answered already, or is void.",
    },
    params: {
      ask_id: "a_3_7",
      answer: "always",
      rule: "bash(npm test:*)",
      destination: "projectSettings",
    },
    result: undefined,
  },
};

const web = { kind: "untrusted", source: "web", detail: "example.org" } as const;

export const RIGHTS_DOCS: MethodDocs<keyof typeof RIGHTS_METHODS> = {
  "label.list": {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3 },
    result: { pid: 3, labels: [web] },
  },
  "label.clear": {
    errors: { NOT_FOUND: "No process has this pid, or it has no such label." },
    params: { pid: 3, which: "web" },
    result: { pid: 3, labels: [] },
  },
  "process.mode": {
    errors: {
      NOT_FOUND: NO_PROCESS,
      PERMISSION: "The settings close this mode.",
      INVALID: "bypass mode can only be chosen when a process is started.",
      UNAVAILABLE: "auto mode has no model that could judge the calls.",
    },
    params: { pid: 3, mode: "plan" },
    result: { mode: "plan", ceiling: "default" },
  },
  "auto_mode.config": {
    errors: {},
    params: {},
    result: { allow: [], soft_deny: [], environment: [], stage: "both", during_plan: false },
  },
  "grant.list": {
    errors: { NOT_FOUND: NO_PROCESS },
    params: { pid: 3 },
    result: {
      grants: [
        {
          id: "g_81f2",
          session: 3,
          at: AT,
          by: { principal: "user", client: "crux", uid: 1000 },
          behavior: "allow",
          rule: "bash(npm test:*)",
          scope: "session",
          used: 2,
        },
      ],
    },
  },
  "grant.add": {
    errors: {
      NOT_FOUND: NO_PROCESS_ON_RECORD,
      INVALID: "No rule is given, or one is no rule; none was added.",
      UNAVAILABLE: "Too many grants are held, or the journal cannot record one now.",
    },
    params: { pid: 3, allow: ["bash(npm test:*)"], while_connected: true },
    result: { ids: ["g_81f2"] },
  },
  "grant.remove": {
    errors: {
      NOT_FOUND: "No grant has this id.",
      UNAVAILABLE: "The journal cannot record the removal now.",
    },
    params: { id: "g_81f2", kill: true },
    result: undefined,
  },
};

const NO_FOLDER = { NOT_FOUND: "No such directory." };
const shown = {
  ...NO_FOLDER,
  CONFLICT: "A file is no longer what `seen` says; nothing was written.",
  UNAVAILABLE: "The file of trusted workspaces cannot be written now.",
};

export const TRUST_DOCS: MethodDocs<keyof typeof TRUST_METHODS> = {
  "trust.list": {
    errors: {},
    params: {},
    result: {
      workspaces: [{ root: "/home/ana/shop", at: AT, by: "user 1000", items: 2, session_only: false }],
    },
  },
  "trust.show": {
    errors: NO_FOLDER,
    params: { dir: "/home/ana/shop", pending: true },
    result: {
      root: "/home/ana/shop",
      trusted: false,
      session_only: false,
      main: null,
      declined: false,
      items: [
        {
          path: ".crux/settings.json",
          kind: "settings",
          digest: HASH,
          state: "new",
          acts: ["allow bash(npm test:*)"],
        },
      ],
      refused: [],
    },
  },
  "trust.add": {
    errors: shown,
    params: { dir: "/home/ana/shop", seen: { ".crux/settings.json": HASH } },
    result: { root: "/home/ana/shop", items: 1, session_only: false },
  },
  "trust.decline": {
    errors: { ...NO_FOLDER, UNAVAILABLE: shown.UNAVAILABLE },
    params: { dir: "/home/ana/shop", seen: { ".crux/settings.json": HASH } },
    result: undefined,
  },
  "trust.remove": {
    errors: { ...NO_FOLDER, UNAVAILABLE: shown.UNAVAILABLE },
    params: { dir: "/home/ana/shop" },
    result: { root: "/home/ana/shop", removed: true },
  },
};

export const SETTINGS_DOCS: MethodDocs<keyof typeof SETTINGS_METHODS> = {
  "settings.list": {
    errors: { NOT_FOUND: "No such key; `hint` names the nearest one." },
    params: { cwd: "/home/ana/shop", key: "ui" },
    result: {
      settings: [{ key: "ui.calls", value: true, source: "default" }],
      problems: [],
    },
  },
  "settings.set": {
    errors: {
      NOT_FOUND: "No such key; `hint` names the nearest one.",
      INVALID: "The key does not take this value, or the file has errors of its own; nothing was written.",
      PERMISSION: "The file cannot be written.",
      CONFLICT: "Somebody else is changing the file; try again.",
    },
    params: { cwd: "/home/ana/shop", destination: "userSettings", key: "ui.calls", value: false },
    result: { file: "/home/ana/.config/crux/settings.json", changed: true },
  },
};

export const CREDENTIAL_DOCS: MethodDocs<keyof typeof CREDENTIAL_METHODS> = {
  "credential.list": {
    errors: {},
    params: {},
    result: {
      credentials: [{ driver: "anthropic", ends_with: "x7Qa" }],
      file: "/home/ana/.local/state/crux/credentials.json",
    },
  },
  "credential.set": {
    errors: { UNAVAILABLE: "The file cannot be written." },
    params: { driver: "anthropic", key: "sk-ant-example" },
    result: { file: "/home/ana/.local/state/crux/credentials.json", place: "file" },
  },
  "credential.remove": {
    errors: { UNAVAILABLE: "The file cannot be written." },
    params: { driver: "anthropic" },
    result: { removed: true },
  },
};

export const MODEL_DOCS: MethodDocs<keyof typeof MODEL_METHODS> = {
  "model.resolve": {
    errors: {
      NOT_FOUND: "No such agent, or no driver has this model.",
      UNAVAILABLE: "No model is set up and the settings require one.",
    },
    params: { cwd: "/home/ana/shop", model: "sonnet" },
    result: { driver: "anthropic", model: "sonnet", why: "ANTHROPIC_API_KEY is set" },
  },
  "process.model": {
    errors: {
      NOT_FOUND: "No such process, or no such model driver.",
      CONFLICT: "The process has ended: its model cannot change any more.",
      INVALID: "The process is not an agent.",
      UNAVAILABLE: "The model is not set up in the environment of the process.",
    },
    params: { pid: 3, model: "openai/model-large" },
    result: { pid: 3, driver: "openai", model: "model-large", from: "run" },
  },
  "model.list": {
    errors: {},
    params: {},
    result: {
      drivers: [{ name: "openai", is_ready: false, remedy: "set OPENAI_API_KEY" }],
      models: [
        {
          driver: "openai",
          id: "model-large",
          short: "",
          context: 128_000,
          price: null,
          max_output: 16_000,
          thinking: "none",
          effort: ["low", "medium", "high"],
          images: false,
          cache: "automatic",
          is_ready: false,
        },
      ],
    },
  },
};

export const MEMORY_DOCS: MethodDocs<keyof typeof MEMORY_METHODS> = {
  "memory.list": {
    errors: { UNAVAILABLE: "This daemon keeps no memory." },
    params: { cwd: "/home/ana/shop" },
    result: {
      folders: {
        local: "/home/ana/.config/crux/memory/projects/-home-ana-shop-1f0c2d3e",
        user: "/home/ana/.config/crux/memory/user",
      },
      notes: [
        {
          scope: "user",
          path: "/home/ana/.config/crux/memory/user/reviews.md",
          bytes: 212,
          type: "feedback",
          description: "how ana wants changes to be cut",
          problem: "",
        },
      ],
    },
  },
};

const NO_DEFINITION = { NOT_FOUND: "No definition has this name." };

export const DEFINITION_DOCS: MethodDocs<keyof typeof DEFINITION_METHODS> = {
  "agents.check": {
    errors: NO_DEFINITION,
    params: { cwd: "/home/ana/shop", name: "reviewer" },
    result: {
      definitions: [
        {
          name: "reviewer",
          path: "/home/ana/shop/.crux/agents/reviewer/agent.yaml",
          source: "project",
          shadowedBy: "",
          model: "",
          description: "Reviews a change",
          text: "name: reviewer\ndescription: Reviews a change\n",
          issues: [],
        },
      ],
    },
  },
  "skills.check": {
    errors: NO_DEFINITION,
    params: { cwd: "/home/ana/shop" },
    result: { definitions: [] },
  },
};

const NO_FILE = {
  NOT_FOUND: "No such path.",
  INVALID: "The path is a device, or lies outside the kernel's tree.",
};

export const FILE_DOCS: MethodDocs<keyof typeof FILE_METHODS> = {
  "file.list": {
    errors: { ...NO_FILE, INVALID: "The path is a file or a device, or lies outside the kernel's tree." },
    params: { path: "/mnt/mcp" },
    result: { path: "/mnt/mcp", entries: [{ name: "notes", kind: "directory" }], more: 0 },
  },
  "file.read": {
    errors: NO_FILE,
    params: { path: "/proc/3/status" },
    result: { path: "/proc/3/status", base64: "c3RhdGU6IHJ1bm5pbmcK", truncated: false },
  },
};
