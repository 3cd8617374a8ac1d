import { render } from "preact";
import { App } from "./app.tsx";
import "./styles.css";
import "./parts/parts.css";

render(<App />, document.getElementById("root")!);
