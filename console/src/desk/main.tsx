import { render } from "preact";
import { DeskApp } from "./app.tsx";
import "../styles.css";
import "../parts/parts.css";
import "./desk.css";
import "./form/form.css";
import "../preferences/theme.ts";

render(<DeskApp />, document.getElementById("root")!);
