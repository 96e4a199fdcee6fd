/** Two ways to choose what to upload: files, or a folder with everything in it. */
import { h, type TargetedEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { Button } from '../../ui/button.tsx'

export function ChooseFiles({ onChosen }: { onChosen: (files: FileList) => void }) {
  return (
    <>
      <Chooser label="Upload files" folder={false} onChosen={onChosen} />
      <Chooser label="Upload a folder" folder onChosen={onChosen} />
    </>
  )
}

function Chooser({ label, folder, onChosen }: { label: string; folder: boolean; onChosen: (files: FileList) => void }) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      {h('input', {
        ref: input,
        type: 'file',
        class: 'unseen',
        tabIndex: -1,
        'aria-hidden': 'true',
        multiple: true,
        webkitdirectory: folder,
        'data-chooses': folder ? 'folder' : 'files',
        onChange: ({ currentTarget }: TargetedEvent<HTMLInputElement>) => {
          if (currentTarget.files) onChosen(currentTarget.files)
          // Lets the user choose the same files again.
          currentTarget.value = ''
        },
      })}
      <Button icon={folder ? 'folder' : 'upload'} onClick={() => input.current?.click()}>
        {label}
      </Button>
    </>
  )
}
