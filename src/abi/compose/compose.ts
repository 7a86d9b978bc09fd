/**
 * crux.compose.yaml after its variables are filled in and its defaults are known (kernel reference, compose). Keys are
 * those of the file. The file's own schema is in compose-file.ts.
 */
import type { Pid } from "../ids.ts";
import type { PermissionMode } from "../process.ts";
import type { Backoff, ChildState, Intensity, Restart } from "../supervise.ts";

export type DependsCondition = "started" | "ready" | "completed";

/** When a service counts as ready; if it is not ready in time (default 60 s), it has failed. */
export type Readiness =
  | { readonly kind: "stdout"; readonly pattern: string; readonly timeoutMs: number }
  /** An agent's first step is done. */
  | { readonly kind: "step"; readonly timeoutMs: number };

export interface ComposeService {
  readonly name: string;
  readonly program:
    | { readonly kind: "agent"; readonly agent: string; readonly intent: string }
    | { readonly kind: "native"; readonly command: readonly string[] };
  readonly model?: string;
  readonly systemPrompt?: string;
  /** 0: the agent file's. */
  readonly maxSteps: number;
  readonly timeoutMs: number;
  readonly permissionMode?: PermissionMode;
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Tokens of one replica; 0 none of its own. */
  readonly budgetTokens: number;
  /** US dollars. */
  readonly budgetUsd?: number;
  readonly dependsOn: Readonly<Record<string, DependsCondition>>;
  readonly ready?: Readiness;
  readonly group?: string;
  readonly restart: Restart;
  readonly replicas: number;
  readonly shutdownMs: number;
}

export interface ComposePipe {
  readonly from: string;
  readonly to: string;
  readonly stream: "stdout" | "stderr" | "result";
}

export interface ComposeProject {
  readonly name: string;
  /** Tokens of the whole project; 0 none. */
  readonly budgetTokens: number;
  /** US dollars. */
  readonly budgetUsd?: number;
  readonly intensity: Intensity;
  readonly backoff: Backoff;
  readonly services: readonly ComposeService[];
  readonly pipes: readonly ComposePipe[];
  /** Whether its services may send messages to one another without approval. */
  readonly messages: boolean;
}

/** What `crux compose up` and `logs` show. `child` is `<service>-<replica>`. */
export type ProjectEvent =
  | { readonly event: "starting"; readonly project: string; readonly services: number }
  | { readonly event: "started"; readonly child: string; readonly pid: Pid }
  | {
      readonly event: "waiting";
      readonly child: string;
      readonly on: string;
      readonly condition: DependsCondition;
    }
  /** One line, without its end. */
  | { readonly event: "log"; readonly child: string; readonly text: string }
  | { readonly event: "exited"; readonly child: string; readonly code: number; readonly reason: string }
  | {
      readonly event: "restarting";
      readonly child: string;
      readonly delayMs: number;
      readonly restarts: number;
      readonly max: number;
    }
  | { readonly event: "skipped"; readonly child: string; readonly reason: string }
  /** All services that do not wait for others are running. */
  | { readonly event: "up"; readonly project: string; readonly pid: Pid }
  | {
      readonly event: "done";
      readonly project: string;
      readonly tokens: number;
      readonly elapsedMs: number;
      /** 0, or the code of the first service that failed. */
      readonly code: number;
    }
  | { readonly event: "failed"; readonly project: string; readonly reason: string; readonly code: number }
  | { readonly event: "stopped"; readonly project: string };

export interface ReplicaView {
  readonly service: string;
  /** From 1. */
  readonly replica: number;
  readonly pid: Pid | null;
  /** `dead`: it has ended and will not be restarted. */
  readonly state: ChildState | "dead";
  readonly exitCode: number | null;
  readonly restarts: number;
  readonly tokensUsed: number;
  readonly elapsedMs: number;
  /** Why it is not running, if its state does not say so. */
  readonly note?: string;
}

export interface ProjectView {
  readonly project: string;
  /** The pid of its supervisor. */
  readonly pid: Pid;
  readonly replicas: readonly ReplicaView[];
  /** The first failure, if the project ended because of one. */
  readonly failure?: string;
}
