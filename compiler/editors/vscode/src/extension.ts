// Connects VS Code with `stagec lsp`: findings, drawings, tests and tasks.
import { existsSync } from "node:fs";
import * as vscode from "vscode";
import { LanguageClient, type ExecuteCommandSignature } from "vscode-languageclient/node";
import { findCommand, type Command } from "./command";
import { Drawing } from "./drawing";
import type { Page } from "./page";
import { offerTests } from "./testing";

const LANGUAGES = ["json", "jsonc", "yaml", "markdown"];
const DRAW = "stagec.draw"; // the command of the server's lens, which is answered here

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const drawing = new Drawing(askPage);
  context.subscriptions.push(
    drawing,
    offerTests(chooseCommand),
    vscode.tasks.registerTaskProvider("stagec", { provideTasks: listTasks, resolveTask: resolveTask }),
    vscode.commands.registerCommand("stagec.openDrawing", () => openDrawing(drawing)),
    vscode.commands.registerCommand("stagec.restart", async () => {
      await client?.stop();
      await startServer(drawing);
    }),
  );
  await startServer(drawing);
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

function chooseCommand(folder?: vscode.WorkspaceFolder): Command {
  // a folder that nobody trusts must not choose the program
  const settings = vscode.workspace.getConfiguration("stagec", folder);
  const folders = folder === undefined ? (vscode.workspace.workspaceFolders ?? []) : [folder];
  return findCommand(
    settings.get<string[]>("command", []),
    folders.map((each) => each.uri.fsPath),
    existsSync,
  );
}

async function startServer(drawing: Drawing): Promise<void> {
  const { program, args } = chooseCommand();
  const executeCommand = async (command: string, given: unknown[], next: ExecuteCommandSignature) => {
    const [path, flow] = (given.length === 1 && Array.isArray(given[0]) ? given[0] : given) as string[];
    if (command !== DRAW || path === undefined || flow === undefined) return (await next(command, given)) as unknown;
    return drawing.show(path, flow);
  };
  client = new LanguageClient(
    "stagec",
    "stagec",
    { command: program, args: [...args, "lsp"] },
    {
      documentSelector: LANGUAGES.map((language) => ({ scheme: "file", language })),
      initializationOptions: { inlayHints: vscode.workspace.getConfiguration("stagec").get("inlayHints", false) },
      middleware: { executeCommand },
    },
  );
  try {
    await client.start();
  } catch (error) {
    const told = `stagec cannot be started as '${program}': install 'stagec[lsp]' in the environment of the project, or set 'stagec.command'.`;
    void vscode.window.showErrorMessage(`${told} ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function askPage(path: string, flow: string): Promise<Page> {
  if (client === undefined) throw new Error("the server of stagec is not running");
  return client.sendRequest<Page>("workspace/executeCommand", { command: "stagec.page", arguments: [path, flow] });
}

async function openDrawing(drawing: Drawing): Promise<void> {
  const uri = vscode.window.activeTextEditor?.document.uri;
  const lenses = uri && (await vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", uri));
  const found = (lenses ?? []).flatMap((each) => (each.command?.command === DRAW ? [each.command.arguments as string[]] : []));
  if (found.length === 0) {
    void vscode.window.showInformationMessage("This file declares no flow: open a step registry, a pipeline or a stage plan.");
    return;
  }
  const flows = found.map(([, flow]) => flow ?? "");
  const chosen = flows.length === 1 ? flows[0] : await vscode.window.showQuickPick(flows, { placeHolder: "Flow" });
  const subject = found.find(([, flow]) => flow === chosen);
  if (subject?.[0] !== undefined && chosen !== undefined) await drawing.show(subject[0], chosen);
}

function listTasks(): vscode.Task[] {
  return (vscode.workspace.workspaceFolders ?? []).flatMap((folder) =>
    ["validate", "test"].map((command) => makeTask({ type: "stagec", command }, folder)),
  );
}

function resolveTask(task: vscode.Task): vscode.Task | undefined {
  const folder = typeof task.scope === "object" ? task.scope : vscode.workspace.workspaceFolders?.[0];
  return folder && makeTask(task.definition, folder);
}

function makeTask(definition: vscode.TaskDefinition, folder: vscode.WorkspaceFolder): vscode.Task {
  const command = definition["command"] === "test" ? "test" : "validate";
  const { program, args } = chooseCommand(folder);
  const words = command === "validate" ? ["validate", "--format", "concise"] : ["test"];
  const execution = new vscode.ProcessExecution(program, [...args, ...words], { cwd: folder.uri.fsPath });
  const task = new vscode.Task(definition, folder, command, "stagec", execution, command === "validate" ? ["$stagec"] : []);
  task.group = command === "test" ? vscode.TaskGroup.Test : vscode.TaskGroup.Build;
  return task;
}
