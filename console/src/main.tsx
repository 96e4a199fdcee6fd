/** Starts the page. */
import { render } from 'preact'
import { App } from './app.tsx'
import { findSession } from './model/session.ts'
import './style.css'

void findSession()
const root = document.getElementById('app')
if (root !== null) render(<App />, root)
