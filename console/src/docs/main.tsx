import { render } from "preact";
import { DocsPage } from "./page.tsx";
import "../styles.css";
import "../parts/parts.css";
import "./docs.css";

render(<DocsPage />, document.getElementById("root")!);
